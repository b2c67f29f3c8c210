import { once } from 'node:events';
import { createServer, type IncomingMessage, request as sendRequest, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A proxy that sends each request to the next server, without regard to connections, sessions or earlier requests. */
export interface RoundRobinProxy {
  readonly url: string;
  readonly port: number;
  /** The number of requests that each server has received. */
  readonly counts: readonly number[];
  /** Holds all later requests until a change of the servers is complete. */
  holdUntil(change: Promise<unknown>): void;
  close(): Promise<void>;
}

export async function startRoundRobin(ports: readonly number[]): Promise<RoundRobinProxy> {
  let turn = 0;
  let change: Promise<unknown> = Promise.resolve();
  const counts = ports.map(() => 0);
  const proxy = createServer((request, response) => {
    const index = turn++ % ports.length;
    counts[index]! += 1;
    void change.then(() => forward(request, response, ports[index]!));
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const { port } = proxy.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    counts,
    holdUntil(begun) {
      change = Promise.all([change, begun]);
    },
    async close() {
      const closed = once(proxy, 'close');
      proxy.close();
      proxy.closeAllConnections();
      await closed;
    },
  };
}

/** Passes on a request and its response with the same headers, on a connection of its own. */
function forward(request: IncomingMessage, response: ServerResponse, port: number): void {
  const { method, url: path, rawHeaders: headers } = request;
  const outgoing = sendRequest({ host: '127.0.0.1', port, method, path, headers, agent: false });
  outgoing.on('response', (incoming) => {
    response.writeHead(incoming.statusCode!, incoming.statusMessage, incoming.rawHeaders);
    // Event streams begin with headers alone.
    response.flushHeaders();
    incoming.pipe(response).on('error', () => incoming.destroy());
    incoming.on('aborted', () => response.destroy());
  });
  // A server may respond before it has received the whole body, and then closes the connection.
  outgoing.on('error', () => {
    if (!response.headersSent) response.destroy();
  });
  response.on('close', () => outgoing.destroy());
  request.pipe(outgoing);
}
