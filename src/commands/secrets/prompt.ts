import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { CommandFailure } from '../../start-error.js';
import type { Terminal } from './terminal.js';

/** What shells give for SIGINT. */
const INTERRUPTED = 130;

/** Asks a person; an empty answer gives what is in brackets. */
export function ask(terminal: Terminal, question: string, otherwise = ''): Promise<string> {
  const shown = otherwise === '' ? `${question}: ` : `${question} [${otherwise}]: `;
  return read(terminal, shown, terminal.err).then((answer) => answer.trim() || otherwise);
}

/** Asks for what must not be seen: nothing is shown of what is typed. */
export async function askHidden(terminal: Terminal, question: string): Promise<string> {
  terminal.err.write(`${question}: `);
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const answer = await read(terminal, '', nowhere);
  terminal.err.write('\n');
  return answer.trim();
}

/** Commands that nobody can answer, or that are interrupted, end; a question that stays open would end the process in silence. */
async function read({ in: input }: Terminal, question: string, output: NodeJS.WritableStream): Promise<string> {
  const reader = createInterface({ input, output, terminal: input.isTTY === true });
  const ended = new Promise<never>((_resolve, reject) => {
    const stop = (): void => reject(new CommandFailure('interrupted; nothing is written', INTERRUPTED));
    reader.once('SIGINT', stop).once('close', stop);
  });
  try {
    return await Promise.race([reader.question(question), ended]);
  } finally {
    reader.close();
  }
}
