import { InvalidArgumentError } from 'commander';
import type { Command } from 'commander';
import { parseCount } from './options.js';
import { withContext } from './with-context.js';
import { addConnectionOptions } from './settings.js';
import type { ConnectionOptions } from './settings.js';
import type { Terminal } from './terminal.js';

export interface AuditCommandOptions extends ConnectionOptions {
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

/** `trellis secrets audit`: prints or verifies the audit log. */
export function addAuditCommand(secrets: Command, terminal: Terminal): void {
  const audit = secrets
    .command('audit')
    .description('Print the audit log, oldest entry first')
    .option('--object <secret>', 'only entries of the secret with this name')
    .option('--by <name>', 'only entries with this client name')
    .option('--actor <id>', 'only entries of this session or token; "none" for requests without a credential')
    .option('--from <time>', 'only entries at or after this time, such as 2026-01-31 or 2026-01-31T09:00:00Z')
    .option('--to <time>', 'only entries before this time')
    .option('--limit <number>', 'number of newest entries', parseCount, 50)
    .option('--all', 'all entries')
    .option('--follow', 'follow new entries until interrupted')
    .option('--verify', 'verify the hash chain of the whole log instead; the exit code is 1 if it was altered')
    .option(
      '--known <entries:head>',
      'with --verify: result of an earlier verification that the log must contain',
      parseKnown,
    )
    .option('--json', 'print JSON, one entry per line')
    .addHelpText(
      'after',
      `
Examples:
  trellis secrets audit --object db-password
  trellis secrets audit --follow --json | jq -r 'select(.action == "read") | .object_id'
  trellis secrets audit --verify`,
    );
  addConnectionOptions(audit).action((flags: AuditCommandOptions) =>
    withContext(terminal, flags, async (session) => {
      const { printAuditLog, printVerification } = await import('./audit.js');
      await (flags.verify ? printVerification(session, flags) : printAuditLog(session, flags));
    }),
  );
}

function parseKnown(text: string): { readonly entries: number; readonly head: string } {
  const [, entries, head] = /^([1-9]\d{0,14}):([\da-f]{64})$/.exec(text) ?? [];
  if (entries !== undefined && head !== undefined) return { entries: Number(entries), head };
  throw new InvalidArgumentError('Expected a number and a hash, such as 41:9f86d0….');
}
