/** Log lines for people: on a terminal, the JSON of each line is shown as text. */
import type { DestinationStream } from 'pino';

export interface TextOutput {
  write(text: string): unknown;
}

/** Creates the destination of a log that shows its lines on a terminal. */
export function createTerminalDestination(output: TextOutput): DestinationStream {
  return { write: (line) => void output.write(formatLogLine(line)) };
}

/** Formats a line of JSON as text, for example `14:03:22 GET /api/dashboard 200 3.1 ms (getDashboard)`. */
export function formatLogLine(line: string): string {
  const { level, time, msg, err, status, ...fields } = JSON.parse(line) as LogLine;
  const clock = new Date(time).toTimeString().slice(0, 8);
  const text = msg ?? (status === undefined ? JSON.stringify(fields) : describeRequest(status, fields));
  const cause = err === undefined ? '' : `\n${err.stack ?? `${err.type}: ${err.message}`}`;
  return `${clock} ${LEVELS[level] ?? ''}${escapeControls(text + cause)}\n`;
}

/** Escapes the characters that could manipulate a terminal. Errors quote texts of others, such as the response of a forge. */
const escapeControls = (text: string): string =>
  text.replace(/(?![\n\t])[\p{Cc}\p{Bidi_Control}]/gu, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });

interface LogLine extends Readonly<Record<string, unknown>> {
  readonly level: number;
  readonly time: number;
  readonly msg?: string;
  readonly status?: number;
  readonly err?: { readonly type: string; readonly message: string; readonly stack?: string };
}

/** The levels that are shown, as Pino numbers them. */
const LEVELS: Readonly<Record<number, string>> = { 20: 'debug: ', 40: 'Warning: ', 50: 'Error: ', 60: 'Fatal: ' };

function describeRequest(status: number, fields: Readonly<Record<string, unknown>>): string {
  const { method, route = '', milliseconds, operation, queryName } = fields;
  const name = operation === undefined ? '' : ` (${[operation, queryName].filter(Boolean).join(' ')})`;
  const time = typeof milliseconds === 'number' ? ` ${milliseconds} ms` : '';
  return `${String(method)} ${String(route)} ${status}${time}${name}`;
}

/** Creates the output that writes each line of text to the log instead; `Warning: ` begins a warning. */
export function createLineOutput(log: Readonly<Record<'info' | 'warn', (line: string) => void>>): TextOutput {
  return {
    write(text) {
      for (const line of text.split('\n').filter(Boolean)) {
        if (line.startsWith('Warning: ')) log.warn(line.slice('Warning: '.length));
        else log.info(line);
      }
    },
  };
}
