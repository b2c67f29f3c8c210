import { destination as openDestination, pino } from 'pino';
import type { DestinationStream, Logger } from 'pino';

export type Log = Logger;

/** Wherever headers may end up in a line, credentials do not. */
const CREDENTIALS = ['authorization', 'cookie', '["set-cookie"]'];

export interface LogOptions {
  readonly level: string;
  /** Standard output, written without blocking, when absent. */
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
  return pino(options, destination ?? openDestination({ dest: 1, sync: false }));
}

function below(parent: string, name: string): string {
  return name.startsWith('[') ? parent + name : `${parent}.${name}`;
}
