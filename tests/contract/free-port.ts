import { createServer, type AddressInfo } from 'node:net';

/** Finds a port that is currently free. */
export function findFreePort(): Promise<number> {
  return new Promise((resolve) => {
    const listener = createServer().listen(0, '127.0.0.1', () => {
      const { port } = listener.address() as AddressInfo;
      listener.close(() => resolve(port));
    });
  });
}
