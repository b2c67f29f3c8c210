import { AsyncLocalStorage } from 'node:async_hooks';
import type { Context, Span, Tracer } from '@opentelemetry/api';
import { getRequestContext } from '@trellis/server/http/request';
import type { RequestHandler } from 'express';
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  defaultResource,
  defaultTextMapGetter,
  detectResources,
  envDetector,
  OTLPTraceExporter,
  resourceFromAttributes,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  W3CTraceContextPropagator,
} from './opentelemetry.js';

/** Traces of requests and their database statements, which are sent to a collector by OTLP. */
export interface Tracing {
  /** Begins the span of a request, which ends with the response. */
  readonly handler: RequestHandler;
  /** Adds the span of a statement that has ended to the request that it belongs to. */
  readonly onStatement: (text: string, milliseconds: number) => void;
  /** Sends the remaining spans. */
  close(): Promise<void>;
}

interface TracingOptions {
  readonly version: string;
  readonly instance: string;
  /** Whether a proxy in front of the server sets `traceparent`. Clients could otherwise choose what is sampled. */
  readonly trustsParents: boolean;
}

const PROPAGATOR = new W3CTraceContextPropagator();

/** Starts to trace. Exporter, sampler and service name are those of the standard variables (`OTEL_…`). */
export function startTracing({ version, instance, trustsParents }: TracingOptions): Tracing {
  const own = { 'service.name': 'trellis', 'service.version': version, 'service.instance.id': instance };
  const provider = new BasicTracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes(own))
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  });
  const tracer = provider.getTracer('trellis', version);
  const current = new AsyncLocalStorage<Context>();
  return {
    handler(request, response, next) {
      const { headers } = request;
      const parent = trustsParents ? PROPAGATOR.extract(ROOT_CONTEXT, headers, defaultTextMapGetter) : ROOT_CONTEXT;
      const span = tracer.startSpan(request.method, { kind: SpanKind.SERVER }, parent);
      response.once('close', () => endRequest(span, request.method, response));
      current.run(trace.setSpan(parent, span), next);
    },
    onStatement(text, milliseconds) {
      const parent = current.getStore();
      if (parent !== undefined) addStatement(tracer, parent, { text, milliseconds });
    },
    close: () => provider.shutdown(),
  };
}

/** Names the span by the path template, as the path itself may contain a secret. */
function endRequest(span: Span, method: string, response: Parameters<RequestHandler>[1]): void {
  const { requestId, operation, route, queryName, imageFrom } = getRequestContext(response);
  const status = response.statusCode;
  span.updateName(route === undefined ? method : `${method} ${route}`);
  span.setAttributes({
    'http.request.method': method,
    'http.response.status_code': status,
    'http.route': route,
    'trellis.request_id': requestId,
    'trellis.operation': operation,
    'graphql.operation.name': queryName,
    'trellis.image_from': imageFrom,
  });
  if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
}

/** The most characters of a statement. */
const MAX_CHARACTERS = 1_000;

function addStatement(
  tracer: Tracer,
  parent: Context,
  { text, milliseconds }: { readonly text: string; readonly milliseconds: number },
): void {
  const endTime = Date.now();
  const [verb = 'statement'] = /^\w+/.exec(text) ?? [];
  const attributes = { 'db.query.text': text.slice(0, MAX_CHARACTERS), 'db.operation.name': verb };
  const options = { kind: SpanKind.CLIENT, startTime: endTime - milliseconds, attributes };
  tracer.startSpan(verb, options, parent).end(endTime);
}
