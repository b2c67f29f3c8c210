import { createInterface } from 'node:readline/promises';
import { CommandFailure } from '../../start-error.js';
import { EXIT } from './exit-codes.js';
import type { Terminal } from './terminal.js';

/**
 * Asks before something is done that can't be taken back.
 *
 * @throws CommandFailure unless a person agrees, or `--yes` did.
 */
export async function confirm(
  { in: input, err }: Terminal,
  { question, yes }: { readonly question: string; readonly yes: true | undefined },
): Promise<void> {
  if (yes) return;
  if (!input.isTTY) throw new CommandFailure('expected --yes, as nobody is here to be asked', EXIT.usage);
  const reader = createInterface({ input, output: err });
  const answer = await reader.question(`${question} [y/N] `).finally(() => reader.close());
  if (!/^y(es)?$/i.test(answer.trim())) throw new CommandFailure('left as it is', EXIT.failed);
}
