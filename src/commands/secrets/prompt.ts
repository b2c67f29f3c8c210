import { createInterface } from 'node:readline/promises';
import type { Interface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { CommandFailure } from '../../start-error.js';
import type { Terminal } from './terminal.js';

/** What shells give for SIGINT. */
const INTERRUPTED = 130;

/** Asks a person; an empty answer gives what is in brackets. */
export async function ask(terminal: Terminal, question: string, otherwise = ''): Promise<string> {
  const reader = createInterface({ input: terminal.in, output: terminal.err, terminal: terminal.in.isTTY === true });
  const shown = otherwise === '' ? `${question}: ` : `${question} [${otherwise}]: `;
  return (await answerTo(reader, shown)).trim() || otherwise;
}

/** Asks for what must not be seen: nothing is shown of what is typed. */
export async function askHidden({ in: input, err }: Terminal, question: string): Promise<string> {
  const output = new Writable({ write: (_chunk, _encoding, done) => done() });
  // Before the question, as from now on the terminal shows nothing by itself.
  const reader = createInterface({ input, output, terminal: input.isTTY === true });
  err.write(`${question}: `);
  const answer = await answerTo(reader, '');
  err.write('\n');
  return answer.trim();
}

/** A question that stays open would end the process in silence. */
async function answerTo(reader: Interface, question: string): Promise<string> {
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
