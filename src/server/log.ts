import { destination as openDestination, pino } from 'pino';
import type { DestinationStream, Logger } from 'pino';

export type Log = Logger;

/** Headers with credentials, which are redacted wherever a log line contains headers. */
const CREDENTIALS = ['authorization', 'cookie', '["set-cookie"]'];

/** Lines are written in batches, because a write for each request would cost as much as a small response. */
const BATCHES = { minLength: 8192, periodicFlush: 200 };

export interface LogOptions {
  readonly level: string;
  /** By default standard output, written asynchronously with a delay of up to 200 ms. */
  readonly destination?: DestinationStream;
}

/** Creates a log with one JSON object per line. */
export function createLog({ level, destination }: LogOptions): Log {
  const options = {
    level,
    base: undefined,
    redact: {
      paths: CREDENTIALS.flatMap((name) => [name, below('*', name), below('*.*', name)]),
      censor: '[redacted]',
    },
  };
  return pino(options, destination ?? openDestination({ dest: 1, sync: false, ...BATCHES }));
}

function below(parent: string, name: string): string {
  return name.startsWith('[') ? parent + name : `${parent}.${name}`;
}
