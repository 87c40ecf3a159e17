{{/* What every object is labelled with; .part is its name within the release. */}}
{{- define "ieim.labels" -}}
app.kubernetes.io/name: ieim
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .part }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ .root.Chart.Name }}-{{ .root.Chart.Version }}
{{- end }}

{{/* What selects the pods of a part: labels that never change. */}}
{{- define "ieim.selector" -}}
app.kubernetes.io/name: ieim
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .part }}
{{- end }}

{{- define "ieim.image" -}}
{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default .version }}{{ end }}
{{- end }}

{{/* Of every pod: no account in the cluster, nobody in particular. */}}
{{- define "ieim.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  seccompProfile: {type: RuntimeDefault}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
{{- range . }}
  - name: {{ . }}
{{- end }}
{{- end }}
{{- end }}

{{/* Pods of a part on different nodes, as far as there are any. */}}
{{- define "ieim.spread" -}}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels: {{- include "ieim.selector" . | nindent 8 }}
{{- end }}

{{- define "ieim.confined" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
{{- end }}

{{/* Of every container of ours. .config is the name of its ConfigMap, .secret of what has its own
     DATABASE_URL, if it is not the application's. Without .config it is none of the site's and gets
     nothing of its: what production asks for is of no use to anybody (its key signs nothing, for it
     serves nobody). */}}
{{- define "ieim.container" -}}
image: {{ include "ieim.image" (merge (dict "version" .root.Chart.AppVersion) .root.Values.image) }}
imagePullPolicy: IfNotPresent
{{ include "ieim.confined" . }}
{{- if .config }}
envFrom:
  - configMapRef: {name: {{ .config }}}
  - secretRef: {name: {{ .root.Values.secrets.application }}}
{{- end }}
{{- with .secret }}
env:
  - name: DATABASE_URL
    valueFrom:
      secretKeyRef: {name: {{ . }}, key: DATABASE_URL}
  {{- if not $.config }}
  - {name: IEIM_ALLOWED_HOSTS, value: localhost}
  - {name: IEIM_PUBLIC_URL, value: "https://localhost"}
  - {name: IEIM_SECRET_KEY, value: nothing-is-signed-with-it-0123456789-abcdefghijklmnopqrstuvwxyz}
  - {name: REDIS_URL, value: "redis://localhost:6379/0"}
  {{- with $.root.Values.env.IEIM_PRIVATE_NETWORK }}
  - {name: IEIM_PRIVATE_NETWORK, value: {{ . | quote }}}
  {{- end }}
  {{- end }}
{{- end }}
resources: {{- toYaml .resources | nindent 2 }}
volumeMounts:
  - {name: tmp, mountPath: /tmp}
  - {name: data, mountPath: /data}
{{- end }}

{{- define "ieim.volumes" -}}
- name: tmp
  emptyDir: {sizeLimit: 1Gi}
- name: data
  emptyDir: {sizeLimit: 2Gi}
{{- end }}
