import { createServer } from 'node:net';

/** Below the ports that operating systems choose for others, so that a port is still free when a server opens it. */
const PORTS = { first: 12_000, last: 32_000 };

/** Processes start at different ports. */
let next = PORTS.first + ((process.pid * 61) % (PORTS.last - PORTS.first));

/** Finds a free port. Each call returns a different one. */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = next;
    next = port < PORTS.last ? port + 1 : PORTS.first;
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const listener = createServer();
    listener.once('error', () => resolve(false));
    listener.listen(port, '127.0.0.1', () => listener.close(() => resolve(true)));
  });
}
