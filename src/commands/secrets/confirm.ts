import { createInterface } from 'node:readline/promises';
import { CommandError } from '../../config/startup-error.js';
import { EXIT } from './exit-codes.js';
import type { Terminal } from './terminal.js';

/**
 * Asks for confirmation of an action that can't be undone.
 *
 * @throws CommandFailure unless the user confirms, or with `--yes`.
 */
export async function confirm(
  { in: input, err }: Terminal,
  { question, yes }: { readonly question: string; readonly yes: true | undefined },
): Promise<void> {
  if (yes) return;
  if (!input.isTTY) throw new CommandError('Not a terminal: confirm with --yes', EXIT.usage);
  const reader = createInterface({ input, output: err });
  const answer = await reader.question(`${question} [y/N] `).finally(() => reader.close());
  if (!/^y(es)?$/i.test(answer.trim())) throw new CommandError('Cancelled; nothing was changed', EXIT.failed);
}
