/** The processor time of requests, which depends less on the load of the machine than their rate does. */
import { median } from '../rounds.js';
import type { RunningServer } from '../server.js';

/** The heads of the columns that {@link compareCpu} returns. */
export const CPU_HEADS = ['CPU, µs', 'its CPU, µs', 'CPU of it'];

interface RequestLoad {
  readonly requests: number;
}

interface WithCpu {
  /** The processor time of the server for each request, in microseconds. */
  readonly cpuMicroseconds: number;
}

/** Returns a function that sends a load to a server and measures the server's processor time. */
export const withCpu =
  <T extends RequestLoad>(server: RunningServer, send: () => Promise<T>) =>
  async (): Promise<T & WithCpu> => {
    const before = server.cpuMs();
    const load = await send();
    return { ...load, cpuMicroseconds: ((server.cpuMs() - before) * 1000) / load.requests };
  };

/** Returns the medians of a server and of its bound, and the ratio of the bound to the server. */
export function compareCpu(server: readonly WithCpu[], bound: readonly WithCpu[]): string[] {
  const [own, least] = [server, bound].map((loads) => median(loads.map((load) => load.cpuMicroseconds))) as [
    number,
    number,
  ];
  return [own.toFixed(0), least.toFixed(0), (least / own).toFixed(2)];
}
