import Table from 'cli-table3';
import { createCliTokens } from '../accounts/api-tokens.js';
import type { CliTokens } from '../accounts/api-tokens.js';
import { serviceTokens } from '../accounts/bearer-tokens.js';
import type { ApiToken } from '../accounts/api-tokens.js';
import type { Config } from '../config/config.js';
import { createCliServiceTokens } from '../secrets/service-tokens.js';
import type { CliServiceTokens } from '../secrets/service-tokens.js';
import type { TokenMetadata } from '../secrets/service-tokens.js';
import { withAccountDatabase } from './accounts-database.js';
import type { OutputStreams } from './accounts-database.js';

const DAY_SECONDS = 86_400;

/** Selects tokens: `user` is required for API tokens, `consumer` for consumer tokens. */
interface TokenSelection {
  readonly kind: 'consumer' | 'personal' | 'write';
  readonly user?: string | undefined;
  readonly consumer?: string | undefined;
}

interface NewToken extends TokenSelection {
  readonly label: string;
  readonly days: number;
  readonly scope: 'read' | 'write';
}

export interface TokenOperations {
  create(token: NewToken): Promise<void>;
  list(query: TokenSelection & { readonly json: boolean }): Promise<void>;
  revoke(id: string): Promise<void>;
}

/** @throws StartError of one line for an invalid option, name, label or id. */
export function withTokenOperations(
  config: Config,
  streams: OutputStreams,
  work: (commands: TokenOperations) => Promise<void>,
): Promise<void> {
  return withAccountDatabase(config, (database) => {
    const secret = createCliServiceTokens(database, { store: serviceTokens });
    return work(tokensCommand({ personal: createCliTokens(database), secret }, streams));
  });
}

interface Tokens {
  readonly personal: CliTokens;
  readonly secret: CliServiceTokens;
}

function tokensCommand(tokens: Tokens, { out, err }: OutputStreams): TokenOperations {
  return {
    async create(request) {
      const { id, token, expiresAt, owner } = await create(tokens, request);
      err.write(`Token ${id} of ${owner}, valid until ${toDay(expiresAt)}. It is shown only once:\n`);
      out.write(`${token}\n`);
    },
    async list({ kind, user = '', json }) {
      const own = kind === 'personal' ? await tokens.personal.list(user) : await tokens.secret.list(kind);
      out.write(json ? `${JSON.stringify(own, undefined, 2)}\n` : toTable(own));
    },
    async revoke(id) {
      if (!(await tokens.secret.revoke(id))) await tokens.personal.revoke(id);
      err.write(`Revoked token ${id}.\n`);
    },
  };
}

interface Created {
  readonly id: string;
  readonly token: string;
  readonly expiresAt: Date;
  readonly owner: string;
}

async function create(
  { personal, secret }: Tokens,
  { kind, user = '', consumer, label, days, scope }: NewToken,
): Promise<Created> {
  const ttlSeconds = days * DAY_SECONDS;
  if (kind !== 'personal') {
    const created = await secret.create(kind, { description: label, consumer, ttlSeconds });
    return { ...created, owner: kind === 'consumer' ? (consumer ?? '') : 'the owner of the secrets' };
  }
  const scopes = scope === 'write' ? (['read', 'write'] as const) : (['read'] as const);
  const expiresAt = new Date(Date.now() + ttlSeconds * 1_000);
  return { ...(await personal.create(user, { label, scopes, expiresAt })), owner: user };
}

function toTable(tokens: readonly (ApiToken | TokenMetadata)[]): string {
  if (tokens.length === 0) return 'No tokens.\n';
  const table = new Table({
    head: ['id', 'label', 'permissions', 'valid until', 'last used'],
    style: { head: [], border: [] },
  });
  for (const token of tokens) {
    const { id, expiresAt, lastUsedAt } = token;
    const used = lastUsedAt === undefined ? 'never' : toDay(lastUsedAt);
    table.push([id, ...toCells(token), toDay(expiresAt), used]);
  }
  return `${table.toString()}\n`;
}

/** Returns the label and the permissions of a token; for an inactive one, its status instead. */
function toCells(token: ApiToken | TokenMetadata): [label: string, permissions: string] {
  if ('scopes' in token) return [token.label, token.scopes.join(' ')];
  const { description, consumer, status } = token;
  const permissions = consumer === undefined ? 'manage secrets' : `read secrets of ${consumer}`;
  return [description, status === 'active' ? permissions : status];
}

const toDay = (date: Date): string => date.toISOString().slice(0, 10);
