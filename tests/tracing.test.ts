import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { eventually } from './eventually.js';
import { type RunningServer, startServer } from './running-server.js';

interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];
}

interface TraceRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: Span['attributes'] };
    readonly scopeSpans: readonly { readonly spans: readonly Span[] }[];
  }[];
}

/** The kinds of spans in OTLP. */
const [SERVER, CLIENT] = [2, 3];

describe('traces', () => {
  const received: TraceRequest[] = [];
  let collector: Server;
  let server: RunningServer;
  beforeAll(async () => {
    collector = createServer((request, response) => {
      void text(request).then((body) => {
        if (request.url === '/v1/traces') received.push(JSON.parse(body) as TraceRequest);
        response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
      });
    });
    await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
    server = await startServer(['--services', 'dashboard', '--trust-proxy', '1', '--drain-seconds', '0'], {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(collector.address() as AddressInfo).port}`,
      OTEL_SERVICE_NAME: 'boards',
      OTEL_BSP_SCHEDULE_DELAY: '50',
    });
  });
  afterAll(async () => {
    await server.stop();
    collector.close().closeAllConnections();
  });

  const listSpans = (): Span[] =>
    received.flatMap(({ resourceSpans }) =>
      resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)),
    );
  const findValue = (attributes: Span['attributes'], name: string): unknown =>
    Object.values(attributes.find(({ key }) => key === name)?.value ?? {})[0];

  test('continue that of the proxy, with the route, and the statements of the request', async () => {
    const [traceId, parentId] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7'];
    const headers = { traceparent: `00-${traceId}-${parentId}-01` };
    const response = await fetch(`${server.origin}/api/feeds/${'x'.repeat(43)}/badge`, { headers });
    await eventually(() => {
      const own = listSpans().filter((span) => span.traceId === traceId);
      const [request] = own.filter(({ kind }) => kind === SERVER);
      const statements = own.filter(({ kind }) => kind === CLIENT);
      expect(request).toMatchObject({ parentSpanId: parentId });
      expect(request?.name).toBe('GET /api/feeds/{feedToken}/badge');
      expect(findValue(request!.attributes, 'http.response.status_code')).toBe(response.status);
      expect(findValue(request!.attributes, 'trellis.request_id')).toBe(response.headers.get('x-request-id'));
      expect(statements.map(({ parentSpanId }) => parentSpanId)).toContain(request?.spanId);
    });
    expect(JSON.stringify(received)).not.toContain('xxxx');
  });

  test('name the service as the standard variables do', () => {
    const attributes = received[0]?.resourceSpans[0]?.resource.attributes ?? [];
    expect(findValue(attributes, 'service.name')).toBe('boards');
    expect(findValue(attributes, 'service.instance.id')).toContain(`:${server.process.pid}`);
  });
});

test('a collector that rejects traces is in the log, and one that does not respond does not delay the end', async () => {
  let isRejecting = true;
  let waiting = 0;
  const collector = createServer((_request, response) => {
    if (isRejecting) response.writeHead(400).end();
    else waiting += 1;
  });
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
  const server = await startServer(['--services', 'dashboard'], {
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(collector.address() as AddressInfo).port}`,
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: '',
    OTEL_EXPORTER_OTLP_TIMEOUT: '3600000',
    OTEL_TRACES_SAMPLER: 'sometimes',
    OTEL_BSP_SCHEDULE_DELAY: '50',
  });
  await server.printed('Traces: OTEL_TRACES_SAMPLER value \\"sometimes\\" invalid');
  await fetch(`${server.origin}/healthz`);
  await server.printed('Traces: failed to send them to the collector: Bad Request');
  isRejecting = false;
  await fetch(`${server.origin}/healthz`);
  await eventually(() => expect(waiting).toBe(1));
  expect(await server.stop()).toBe(0);
  collector.close().closeAllConnections();
});
