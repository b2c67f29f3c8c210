/** The parts of OpenTelemetry that are used. The build puts their code here: installed, the packages take 26 MB. */
export {
  defaultTextMapGetter,
  diag,
  DiagLogLevel,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
export { setGlobalErrorHandler, W3CTraceContextPropagator } from '@opentelemetry/core';
export { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
export { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
export { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
