import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Context, Span, Tracer } from '@opentelemetry/api';
import { getRequestContext, type Log } from '@trellis/server/http/request';
import type { RequestHandler } from 'express';
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  defaultResource,
  defaultTextMapGetter,
  detectResources,
  diag,
  DiagLogLevel,
  envDetector,
  OTLPTraceExporter,
  resourceFromAttributes,
  ROOT_CONTEXT,
  setGlobalErrorHandler,
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
  /** Sends the remaining spans, for at most two seconds. */
  close(): Promise<void>;
}

interface TracingOptions {
  /** Receives invalid variables, and at most once a minute why spans were not sent. */
  readonly log: Log;
  readonly version: string;
  readonly instance: string;
  /** Whether a proxy in front of the server sets `traceparent`. Clients could otherwise choose what is sampled. */
  readonly trustsParents: boolean;
}

const PROPAGATOR = new W3CTraceContextPropagator();

/** A supervisor waits ten seconds for the end, of which open requests may take eight. */
const CLOSE_MS = 2_000;

/** The time for the rest to end, such as the database. */
const EXIT_MS = 1_000;

/** A collector that is down fails at every batch. */
const REPORT_EVERY_MS = 60_000;

/** Writes warnings of OpenTelemetry to the log. By default, it drops them. */
function reportProblems(log: Log): void {
  // The address of a collector may contain credentials.
  const warn = (text: string): void => log.warn(`Traces: ${text.replaceAll(/\/\/[^/@]*@/g, '//…@')}`);
  const drop = (): void => undefined;
  diag.setLogger({ error: warn, warn, info: drop, debug: drop, verbose: drop }, DiagLogLevel.WARN);
  let reportedAt = -Infinity;
  setGlobalErrorHandler((error) => {
    if (performance.now() - reportedAt < REPORT_EVERY_MS) return;
    reportedAt = performance.now();
    warn(`failed to send them to the collector: ${typeof error === 'string' ? error : error.message}`);
  });
}

/** Starts to trace. Exporter, sampler and service name are those of the standard variables (`OTEL_…`). */
export function startTracing({ log, version, instance, trustsParents }: TracingOptions): Tracing {
  reportProblems(log);
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
    async close() {
      const isSent = await Promise.race([provider.shutdown().then(() => true), sleep(CLOSE_MS, false, { ref: false })]);
      // The request to a collector that does not respond would keep the process running for its whole timeout.
      if (!isSent) setTimeout(() => process.exit(), EXIT_MS).unref();
    },
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
