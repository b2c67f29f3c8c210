import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Metrics } from './metrics.js';

export interface MetricsServer {
  /** The address that it listens on. */
  readonly url: string;
  close(): void;
}

/**
 * Serves metrics at `/metrics` of an address of their own, so that the public port never shows them.
 *
 * @throws the error of the socket when the address can't be used.
 */
export async function startMetricsServer(
  { host, port }: { readonly host: string; readonly port: number },
  metrics: Pick<Metrics, 'read'>,
): Promise<MetricsServer> {
  const server = createServer({ requestTimeout: 10_000 }, (request, response) => {
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (!isRead || request.url?.split('?')[0] !== '/metrics') {
      response.writeHead(404, { 'Content-Type': 'text/plain' }).end('The metrics are at /metrics.\n');
      return;
    }
    metrics.read().then(
      ({ type, text }) => response.writeHead(200, { 'Content-Type': type, 'Cache-Control': 'no-store' }).end(text),
      () => response.writeHead(500).end(),
    );
  });
  server.listen(port, host);
  await once(server, 'listening');
  // The process ends with the public server.
  server.unref();
  const address = server.address();
  const listening = typeof address === 'object' && address !== null ? address.port : port;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${listening}/metrics`,
    close: () => server.close().closeAllConnections(),
  };
}
