// Draws the charts of the metrics page, each from the JSON beside its canvas. Without this script
// the tables say the same.

const { Chart } = globalThis;
const figures = document.querySelectorAll("[data-chart]");
const language = document.documentElement.lang;
const numbers = new Intl.NumberFormat(language, { maximumFractionDigits: 1 });
const shortNumbers = new Intl.NumberFormat(language, { notation: "compact" });

// The computed colour: a canvas knows neither custom properties nor forced colours.
function colour(figure, property) {
  figure.style.color = `var(${property})`;
  const { color } = getComputedStyle(figure);
  figure.style.color = "";
  return color;
}

function bars(figure, series) {
  const background = colour(figure, "--metrics-background");
  return series.map(({ name, values }, index) => {
    const fill = colour(figure, `--metrics-series-${index + 1}`);
    return {
      label: name,
      data: values,
      backgroundColor: fill,
      hoverBackgroundColor: fill,
      // A gap tells neighbours apart where their colours do not.
      borderColor: background,
      hoverBorderColor: background,
      borderWidth: series.length > 1 ? 1 : 0,
      borderSkipped: false,
    };
  });
}

function lines(figure, series) {
  return series.map(({ name, values }, index) => {
    const stroke = colour(figure, `--metrics-series-${index + 1}`);
    return {
      label: name,
      data: values,
      spanGaps: true,
      borderColor: stroke,
      borderWidth: 2,
      borderDash: index ? [5, 4] : [],
      backgroundColor: stroke,
      pointStyle: index ? "rectRot" : "circle",
      pointRadius: index ? 5 : 4,
    };
  });
}

function draw(figure) {
  const { type, unit, labels, series } = JSON.parse(
    document.getElementById(figure.dataset.chart).textContent,
  );
  figure.hidden = false;
  const text = colour(figure, "--metrics-text");
  const grid = colour(figure, "--metrics-grid");
  const stacked = type === "bar";
  const font = { family: getComputedStyle(figure).fontFamily, size: 14 };
  const written = (value, format) => unit.replace("{number}", format.format(value));
  return new Chart(figure.querySelector("canvas"), {
    type,
    data: { labels, datasets: (stacked ? bars : lines)(figure, series) },
    options: {
      animation: false,
      maintainAspectRatio: false,
      color: text,
      font,
      interaction: { mode: "index", intersect: false },
      scales: {
        x: {
          stacked,
          border: { color: grid },
          grid: { display: false },
          ticks: { color: text, font, maxRotation: 0, autoSkipPadding: 24 },
        },
        y: {
          stacked,
          beginAtZero: true,
          border: { display: false },
          grid: { color: grid },
          ticks: {
            color: text,
            font,
            maxTicksLimit: 5,
            precision: stacked ? 0 : undefined,
            callback: (value) => written(value, shortNumbers),
          },
        },
      },
      plugins: {
        legend: {
          position: "bottom",
          align: "start",
          labels: {
            color: text,
            font,
            usePointStyle: !stacked,
            boxWidth: 14,
            boxHeight: stacked ? 14 : 8,
          },
        },
        tooltip: {
          filter: ({ raw }) => raw !== null && raw !== 0,
          titleFont: font,
          bodyFont: font,
          callbacks: {
            label: ({ dataset, raw }) => `${dataset.label}: ${written(raw, numbers)}`,
          },
        },
      },
    },
  });
}

let charts = [];

function drawAll() {
  for (const chart of charts) chart.destroy();
  charts = Array.from(figures, draw);
}

drawAll();
for (const query of ["(prefers-color-scheme: dark)", "(forced-colors: active)"]) {
  matchMedia(query).addEventListener("change", drawAll);
}
