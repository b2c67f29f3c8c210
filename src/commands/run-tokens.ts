import Table from 'cli-table3';
import { createMachineTokens } from '../accounts/machine-tokens.js';
import type { MachineTokens } from '../accounts/machine-tokens.js';
import type { PersonalToken } from '../accounts/tokens.js';
import type { Config } from '../config.js';
import { withAccounts } from './accounts-database.js';
import type { Streams } from './accounts-database.js';

const DAY_MS = 86_400_000;

export interface TokensCommand {
  create(token: {
    readonly user: string;
    readonly label: string;
    readonly days: number;
    readonly scope: 'read' | 'write';
  }): Promise<void>;
  list(query: { readonly user: string; readonly json: boolean }): Promise<void>;
  revoke(id: string): Promise<void>;
}

/** @throws StartError of one line for a setting, a name, a label or an id that is wrong. */
export function withTokens(
  config: Config,
  streams: Streams,
  work: (commands: TokensCommand) => Promise<void>,
): Promise<void> {
  return withAccounts(config, (database) => work(tokensCommand(createMachineTokens(database), streams)));
}

function tokensCommand(tokens: MachineTokens, { out, err }: Streams): TokensCommand {
  return {
    async create({ user, label, days, scope }) {
      const scopes = scope === 'write' ? (['read', 'write'] as const) : (['read'] as const);
      const expiresAt = new Date(Date.now() + days * DAY_MS);
      const { id, token } = await tokens.create(user, { label, scopes, expiresAt });
      err.write(`Token ${id} of ${user}, until ${toDay(expiresAt)}. It is shown this once:\n`);
      out.write(`${token}\n`);
    },
    async list({ user, json }) {
      const own = await tokens.list(user);
      out.write(json ? `${JSON.stringify(own, undefined, 2)}\n` : toTable(own));
    },
    async revoke(id) {
      await tokens.revoke(id);
      err.write(`Token ${id} no longer works.\n`);
    },
  };
}

function toTable(tokens: readonly PersonalToken[]): string {
  if (tokens.length === 0) return 'No tokens.\n';
  const table = new Table({ head: ['id', 'label', 'scopes', 'until', 'last used'], style: { head: [], border: [] } });
  for (const { id, label, scopes, expiresAt, lastUsedAt } of tokens) {
    table.push([id, label, scopes.join(' '), toDay(expiresAt), lastUsedAt === undefined ? 'never' : toDay(lastUsedAt)]);
  }
  return `${table.toString()}\n`;
}

const toDay = (date: Date): string => date.toISOString().slice(0, 10);
