{{- define "ledgeragent.name" -}}
{{- printf "%s" .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "ledgeragent.selector" -}}
app.kubernetes.io/name: ledgeragent
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "ledgeragent.labels" -}}
{{ include "ledgeragent.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}
