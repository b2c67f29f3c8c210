import type { AddressInfo } from 'node:net';
import express, { type RequestHandler } from 'express';
import { requestBounds } from '../src/http/admission.js';
import { createLog, requestContext } from '../src/http/request.js';
import { errorHandler, notFoundHandler, securityHeaders } from '../src/http/responses.js';
import { createHttpServer } from '../src/http/server.js';

export interface TestServer {
  readonly url: string;
  readonly port: number;
  /** All log lines so far. */
  readonly lines: readonly Readonly<Record<string, unknown>>[];
  close(): Promise<void>;
}

/** Serves routers on a free port, behind the same middleware as in the product. */
export async function serve(...routers: readonly RequestHandler[]): Promise<TestServer> {
  const lines: Record<string, unknown>[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) };
  const log = createLog({ level: 'info', destination });
  const app = express().disable('x-powered-by');
  app.use(requestContext({ log }), securityHeaders({ isHttps: false }), requestBounds());
  app.use(...routers, notFoundHandler(), errorHandler({ log }));
  const server = createHttpServer(app, { log });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    lines,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
