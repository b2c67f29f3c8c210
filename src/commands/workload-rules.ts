import { Command, InvalidArgumentError, Option } from 'commander';
import { type Permission, ALL_PERMISSIONS } from '../accounts/callers.js';
import { CONFIG_OPTIONS } from '../config/options.js';
import type { CliWorkloadRules, WorkloadRule } from '../secrets/workload/rules.js';
import { collectValues } from './secrets/options.js';
import { toTable } from './secrets/terminal.js';
import { addServerOptions, withServerDatabase, type OutputStreams } from './server-options.js';

interface Flags {
  readonly config?: string;
  readonly state?: string;
  readonly databaseUrl?: string;
}

type Claim = WorkloadRule['claims'][number];

interface PutFlags extends Flags {
  readonly issuer: string;
  readonly audience: string;
  readonly claim: readonly Claim[];
  readonly consumer?: string;
  readonly permission?: readonly Permission[];
  readonly namePrefix?: string;
  readonly tag?: readonly string[];
  readonly address?: readonly string[];
  readonly minutes?: number;
  readonly singleUse?: true;
}

/** `trellis workload-rules`: rules by which CI jobs get short-lived tokens, changed on the server's machine. */
export function workloadRulesCommand(streams: OutputStreams): Command {
  const rules = new Command('workload-rules').description(
    "Manage the rules that give CI jobs short-lived tokens of the secrets service, on the server's machine",
  );
  addRuleCommand(rules, 'put')
    .description('Create or replace a rule; its tokens are revoked')
    .argument('<name>', 'name of the rule, such as shop-deploy')
    .requiredOption('--issuer <url>', 'issuer of the tokens, such as https://token.actions.githubusercontent.com')
    .requiredOption('--audience <text>', 'audience of the tokens: the URL of the service, unless jobs set another')
    .requiredOption(
      '--claim <name=pattern>',
      'claim that tokens must have; * stands for any characters except / and :, and ** for all. Repeatable: all names ' +
        'must match, and one pattern of each name',
      collectClaims,
    )
    .option('--consumer <name>', 'issue consumer tokens of this consumer, instead of write tokens')
    .addOption(
      new Option('--permission <permission>', `permission of write tokens; repeatable`)
        .choices(ALL_PERMISSIONS)
        .argParser(collectPermissions),
    )
    .option('--name-prefix <text>', 'limits write tokens to secrets whose names start with this text')
    .option('--tag <tag>', 'limits write tokens to secrets with this tag; repeatable', collectValues)
    .option('--address <range>', 'IP address or range that may use the tokens; repeatable', collectValues)
    .option('--minutes <number>', 'lifetime of the tokens, 1 to 720 (default: 15)', parseMinutes)
    .option('--single-use', 'accept a token of the issuer only once')
    .action((name: string, flags: PutFlags) => withRules(flags, (stored) => putRule(stored, streams, { name, flags })));
  addRuleCommand(rules, 'list')
    .description('List the rules by name')
    .option('--json', 'print JSON')
    .action(({ json, ...flags }: Flags & { readonly json?: true }) =>
      withRules(flags, async (stored) => {
        const all = await stored.list();
        streams.out.write(json ? `${JSON.stringify(all, undefined, 2)}\n` : await toRuleTable(all));
      }),
    );
  addRuleCommand(rules, 'delete')
    .description('Delete a rule, and revoke its tokens')
    .argument('<name>', 'name of the rule, see "list"')
    .action((name: string, flags: Flags) =>
      withRules(flags, async (stored) => {
        await stored.remove(originNow(), name);
        streams.err.write(`Deleted rule ${name}.\n`);
      }),
    );
  return rules;
}

const addRuleCommand = (rules: Command, name: string): Command =>
  addServerOptions(rules.command(name), CONFIG_OPTIONS.state, CONFIG_OPTIONS.databaseUrl);

const originNow = () => ({ caller: 'machine', ip: 'this machine', at: Date.now() }) as const;

function collectClaims(text: string, before: readonly Claim[] = []): readonly Claim[] {
  const [, name = '', pattern = ''] = /^([^=]+)=(.+)$/s.exec(text) ?? [];
  if (name === '') throw new InvalidArgumentError('Expected name=pattern, such as repository=acme/shop.');
  const known = before.find((claim) => claim.name === name);
  if (known === undefined) return [...before, { name, patterns: [pattern] }];
  return before.map((claim) => (claim === known ? { name, patterns: [...known.patterns, pattern] } : claim));
}

function collectPermissions(text: string, before: readonly Permission[] = []): readonly Permission[] {
  const permission = ALL_PERMISSIONS.find((each) => each === text);
  if (permission !== undefined) return [...before, permission];
  throw new InvalidArgumentError(`Expected ${ALL_PERMISSIONS.join(', ')}.`);
}

function parseMinutes(text: string): number {
  const minutes = Number(text);
  if (/^\d+$/.test(text) && minutes >= 1 && minutes <= 720) return minutes;
  throw new InvalidArgumentError('Expected a whole number from 1 to 720.');
}

/** @throws StartupError of one line for an invalid rule or name. */
function withRules(
  { config, state, databaseUrl }: Flags,
  work: (rules: CliWorkloadRules) => Promise<void>,
): Promise<void> {
  return withServerDatabase(
    { ...(config && { config }), ...(state && { state }), ...(databaseUrl && { databaseUrl }) },
    async (database) => {
      const { createCliWorkloadRules } = await import('../secrets/workload/rules.js');
      await work(createCliWorkloadRules(database));
    },
  );
}

async function putRule(
  rules: CliWorkloadRules,
  { err }: OutputStreams,
  { name, flags }: { readonly name: string; readonly flags: PutFlags },
): Promise<void> {
  const { issuer, audience, claim: claims, consumer, minutes, singleUse } = flags;
  const { permission: permissions, namePrefix, tag: tags, address: addresses } = flags;
  const access = { permissions, namePrefix, tags, addresses };
  const isLimited = Object.values(access).some((value) => value !== undefined);
  await rules.put(originNow(), {
    ...{ name, issuer, audience, claims, singleUse: singleUse === true },
    ...(consumer !== undefined && { consumer }),
    ...(minutes !== undefined && { ttlSeconds: minutes * 60 }),
    ...(isLimited && { access }),
  });
  err.write(`Stored rule ${name}.\n`);
}

function toRuleTable(rules: readonly WorkloadRule[]): Promise<string> {
  const rows = rules.map(({ name, issuer, claims, consumer, access, ttlSeconds, lastUsedAt }) => [
    ...[name, issuer, claims.map((claim) => `${claim.name}=${claim.patterns.join(' or ')}`).join(', ')],
    ...[consumer ?? (access?.permissions ?? []).join(', '), `${ttlSeconds / 60} min`],
    lastUsedAt?.toISOString().slice(0, 10) ?? 'never',
  ]);
  return toTable(['name', 'issuer', 'claims', 'consumer or permissions', 'lifetime', 'last used'], rows, 'No rules.');
}
