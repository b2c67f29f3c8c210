import { InvalidArgumentError } from 'commander';
import type { Command } from 'commander';
import { parseCount } from './options.js';
import { withSession } from './run-command.js';
import { withSettings } from './settings.js';
import type { SettingsFlags } from './settings.js';
import type { Terminal } from './terminal.js';

export interface AuditFlags extends SettingsFlags {
  readonly object?: string;
  readonly by?: string;
  readonly actor?: string;
  readonly from?: string;
  readonly to?: string;
  readonly limit: number;
  readonly all?: true;
  readonly follow?: true;
  readonly verify?: true;
  readonly known?: { readonly entries: number; readonly head: string };
  readonly json?: true;
}

/** `trellis secrets audit`: who did what, and whether anybody has altered the log since. */
export function addAuditCommand(secrets: Command, terminal: Terminal): void {
  const audit = secrets
    .command('audit')
    .description('show who did what, oldest first')
    .option('--object <object>', 'only entries about the object of this name')
    .option('--by <name>', 'only entries of clients that named themselves so')
    .option('--actor <id>', 'only entries of this session or token; "none" for those without a credential')
    .option('--from <time>', 'only entries of this moment or later, such as 2026-01-31 or 2026-01-31T09:00:00Z')
    .option('--to <time>', 'only entries before this moment')
    .option('--limit <number>', 'how many of the newest', parseCount, 50)
    .option('--all', 'every one of them')
    .option('--follow', 'go on with what is written from now on, until interrupted')
    .option('--verify', 'check the chain of the whole log instead; the exit code is 1 when it is broken')
    .option(
      '--known <entries:head>',
      'with --verify: what an earlier check told, and is to be part of the log',
      parseKnown,
    )
    .option('--json', 'print JSON, one entry a line')
    .addHelpText(
      'after',
      `
Examples:
  trellis secrets audit --object db-password
  trellis secrets audit --follow --json | jq -r 'select(.action == "read") | .object_id'
  trellis secrets audit --verify`,
    );
  withSettings(audit).action((flags: AuditFlags) =>
    withSession(terminal, flags, async (session) => {
      const { showAudit, verifyAudit } = await import('./run-audit.js');
      await (flags.verify ? verifyAudit(session, flags) : showAudit(session, flags));
    }),
  );
}

function parseKnown(text: string): { readonly entries: number; readonly head: string } {
  const [, entries, head] = /^([1-9]\d{0,14}):([\da-f]{64})$/.exec(text) ?? [];
  if (entries !== undefined && head !== undefined) return { entries: Number(entries), head };
  throw new InvalidArgumentError('Expected a number and a hash, such as 41:9f86d0….');
}
