import { destination as openDestination, pino } from 'pino';
import type { DestinationStream, Logger } from 'pino';

export type Log = Logger;

/** Wherever headers may end up in a line, credentials do not. */
const CREDENTIALS = ['authorization', 'cookie', '["set-cookie"]'];

/** A line of its own for each request would cost as much as the answer to a small one. */
const IN_BATCHES = { minLength: 8192, periodicFlush: 200 };

export interface LogOptions {
  readonly level: string;
  /** Standard output when absent, written without blocking, a fifth of a second later at most. */
  readonly destination?: DestinationStream;
}

/** One JSON object a line. */
export function createLog({ level, destination }: LogOptions): Log {
  const options = {
    level,
    base: undefined,
    redact: {
      paths: CREDENTIALS.flatMap((name) => [name, below('*', name), below('*.*', name)]),
      censor: '[redacted]',
    },
  };
  return pino(options, destination ?? openDestination({ dest: 1, sync: false, ...IN_BATCHES }));
}

function below(parent: string, name: string): string {
  return name.startsWith('[') ? parent + name : `${parent}.${name}`;
}
