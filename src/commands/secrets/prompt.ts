import { createInterface } from 'node:readline/promises';
import type { Interface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { CommandError } from '../../config/startup-error.js';
import type { Terminal } from './terminal.js';

/** The exit code of shells for SIGINT. */
const INTERRUPTED = 130;

/** Prompts the user. Empty input selects the default in brackets. */
export async function prompt(terminal: Terminal, question: string, fallback = ''): Promise<string> {
  const reader = createInterface({ input: terminal.in, output: terminal.err, terminal: terminal.in.isTTY === true });
  const shown = fallback === '' ? `${question}: ` : `${question} [${fallback}]: `;
  return (await readAnswer(reader, shown)).trim() || fallback;
}

/** Prompts for a secret, without echo. */
export async function promptHidden({ in: input, err }: Terminal, question: string): Promise<string> {
  const output = new Writable({ write: (_chunk, _encoding, done) => done() });
  // Set before the prompt, as it turns the echo off.
  const reader = createInterface({ input, output, terminal: input.isTTY === true });
  err.write(`${question}: `);
  const answer = await readAnswer(reader, '');
  err.write('\n');
  return answer.trim();
}

/** Rejects when the input ends; otherwise an open prompt would end the process silently. */
async function readAnswer(reader: Interface, question: string): Promise<string> {
  const ended = new Promise<never>((_resolve, reject) => {
    const stop = (): void => reject(new CommandError('Interrupted; nothing was written', INTERRUPTED));
    reader.once('SIGINT', stop).once('close', stop);
  });
  try {
    return await Promise.race([reader.question(question), ended]);
  } finally {
    reader.close();
  }
}
