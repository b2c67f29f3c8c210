import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { LocalTool } from '@trellis/server/mcp/stdio';
import type { Command } from 'commander';
import { CommandError } from '../../../config/startup-error.js';
import { type CommandContext, withContext } from '../context.js';
import { fetchSecrets } from '../objects.js';
import { EXIT, toCommandError } from '../options.js';
import {
  fillCommand,
  type MapCommand,
  type MapParameter,
  MAX_PARAMETER_LENGTH,
  MAP_FILE,
  readSecretsMap,
  type SecretsMap,
  toEntryVariable,
} from '../run/secrets-map.js';
import { openValues, toTexts } from '../run/selection.js';
import { addConnectionOptions, type ConnectionOptions, nonEmpty, withoutCredentials } from '../settings.js';
import type { Terminal } from '../terminal.js';
import { type Captured, runBounded, MIN_HIDDEN, TextMask } from './masked-run.js';

interface McpOptions extends ConnectionOptions {
  readonly map?: string;
}

/** `trellis secrets mcp`: a local server for an agent, which runs the commands of a map with secrets. */
export function addMcpCommand(secrets: Command, terminal: Terminal): void {
  const mcp = secrets
    .command('mcp')
    .description('Let an agent run allowed commands with secrets it does not see (MCP over standard input and output)')
    .option('--map <file>', `file with the allowed commands and their secrets (default: ${MAP_FILE})`)
    .addHelpText(
      'after',
      `
The commands are those of "commands" in ${MAP_FILE}, which is read once, at the start:
  secrets:
    DB_PASSWORD: db-password
  commands:
    migrate:
      description: Migrates a database of the shop.
      run: [./migrate.sh, '{target}']
      arguments:
        target: [staging, production]

Example, the command that an agent's settings name:
  trellis secrets mcp --map /etc/shop/trellis.secrets.yaml`,
    );
  addConnectionOptions(mcp).action((flags: McpOptions) => {
    const caller = flags.caller ?? nonEmpty(terminal.env.TRELLIS_SECRETS_CALLER) ?? 'mcp';
    return withContext(terminal, { ...flags, caller }, (session) => serveMcp(session, flags));
  });
}

const INSTRUCTIONS =
  'Each tool except list_secrets runs one command of this repository with secrets in its environment. ' +
  'Values of secrets are never returned: they appear as *** in the output.';

async function serveMcp(session: CommandContext, flags: McpOptions): Promise<void> {
  const map = await readSecretsMap(flags.map);
  if (map === undefined) throw new CommandError(`No ${MAP_FILE} in this folder; name one with --map`, EXIT.usage);
  if (map.commands.length === 0) throw new CommandError(`${map.file}: expected "commands" for agents`, EXIT.usage);
  const { terminal } = session;
  const input = terminal.in as NodeJS.ReadStream;
  const stop = (): void => void input.destroy();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, stop);
  // Loaded late, as it takes a tenth of a second.
  const { serveStdioMcp } = await import('@trellis/server/mcp/stdio');
  await serveStdioMcp({
    name: 'trellis-secrets',
    version: terminal.release ?? readRelease(),
    instructions: INSTRUCTIONS,
    tools: createTools(session, map),
    input,
    output: terminal.out as NodeJS.WriteStream,
    // Without the message, which may contain a part of the input.
    onError: () => session.say('The client sent an invalid message.'),
  });
}

/** Reads the release of the product, which is three folders above `src` and `dist`. */
function readRelease(): string {
  const file = new URL('../../../../package.json', import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { readonly version: string }).version;
}

/** Far more than agents run at once. */
const MAX_RUNS = 4;

function createTools(session: CommandContext, map: SecretsMap): readonly LocalTool[] {
  let runs = 0;
  const limited = (tool: LocalTool): LocalTool => ({
    ...tool,
    async call(input, signal) {
      if (runs >= MAX_RUNS) throw new CommandError(`${MAX_RUNS} commands are running; wait for one`, EXIT.conflict);
      runs += 1;
      try {
        return await tool.call(input, signal);
      } catch (error) {
        throw toAgentError(error, session);
      } finally {
        runs -= 1;
      }
    },
  });
  const commands = map.commands.map((command) => toCommandTool(session, map, command));
  return [toListTool(session, map), ...commands].map(limited);
}

/** Messages of a CommandError contain no value. Other errors are reported without their message. */
function toAgentError(error: unknown, { server }: CommandContext): Error {
  const known = toCommandError(error, server);
  return known instanceof CommandError ? known : new Error('Internal error.');
}

function toListTool(session: CommandContext, map: SecretsMap): LocalTool {
  return {
    name: 'list_secrets',
    title: 'List secrets',
    description: 'Lists the secrets that commands may get, and the commands that get them, without values.',
    inputSchema: { type: 'object', properties: {}, additionalProperties: false },
    outputSchema: LIST_SCHEMA,
    annotations: { readOnlyHint: true },
    async call() {
      const objects = await fetchSecrets(session, {});
      const secrets = map.entries.map((entry) => {
        const variable = toEntryVariable(entry);
        const object = objects.find(({ slug }) => slug === entry.slug);
        const commands = map.commands.filter(({ variables }) => variables.includes(variable)).map(({ name }) => name);
        const { updated_at, rotation_due } = object ?? {};
        const dates = { ...(updated_at && { updated_at }), ...(rotation_due !== undefined && { rotation_due }) };
        return { variable, secret: entry.slug, commands, exists: object !== undefined, ...dates };
      });
      return { content: { secrets } };
    },
  };
}

const LIST_SCHEMA: LocalTool['outputSchema'] = {
  type: 'object',
  properties: {
    secrets: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          variable: { type: 'string', description: 'Environment variable of the value.' },
          secret: { type: 'string', description: 'Name of the secret.' },
          commands: { type: 'array', items: { type: 'string' }, description: 'Commands that get the value.' },
          exists: { type: 'boolean', description: 'Whether this credential can see the secret.' },
          updated_at: { type: 'string', description: 'Time of the current value.' },
          rotation_due: { type: 'boolean', description: 'Whether the value is due for rotation.' },
        },
        required: ['variable', 'secret', 'commands', 'exists'],
        additionalProperties: false,
      },
    },
  },
  required: ['secrets'],
  additionalProperties: false,
};

function toCommandTool(session: CommandContext, map: SecretsMap, command: MapCommand): LocalTool {
  const { name, description, variables, timeoutSeconds, hasOutput } = command;
  const facts = [
    description ?? `Runs ${command.run.join(' ')}.`,
    `Gets the secrets ${variables.join(', ') || 'none'}; values are replaced by *** in the output.`,
    hasOutput ? `Returns the last ${MAX_OUTPUT_BYTES / 1024} KiB of each stream.` : 'Returns the exit code only.',
    `Ends after ${timeoutSeconds} seconds.`,
  ];
  return {
    name,
    title: name,
    description: facts.join(' '),
    inputSchema: toInputSchema(command.parameters),
    outputSchema: RUN_SCHEMA,
    annotations: { readOnlyHint: false, destructiveHint: true },
    call: (input, signal) => runCommand(session, { map, command, input, signal }),
  };
}

function toInputSchema(parameters: readonly MapParameter[]): LocalTool['inputSchema'] {
  const properties = parameters.map(({ name, allowed }) => [
    name,
    allowed instanceof RegExp
      ? { type: 'string', pattern: allowed.source, maxLength: MAX_PARAMETER_LENGTH, not: { pattern: '^-' } }
      : { type: 'string', enum: [...allowed] },
  ]);
  const required = parameters.map(({ name }) => name);
  return {
    type: 'object',
    properties: Object.fromEntries(properties) as Record<string, object>,
    required,
    additionalProperties: false,
  };
}

/** The end of a stream that an agent can read. */
const MAX_OUTPUT_BYTES = 32 * 1024;

/** Bytes before the returned ones: a value whose beginning is cut off there is not part of the result. */
const MARGIN_BYTES = 4096;

/** Masking needs a few kilobytes of memory for each byte of a value. */
const MAX_HIDDEN_BYTES = 32 * 1024;

const STREAM = { type: 'string', description: 'The end of the stream, with values replaced by ***.' };

const RUN_SCHEMA: LocalTool['outputSchema'] = {
  type: 'object',
  properties: {
    exit_code: { type: 'integer', description: 'Exit code of the command; absent if a signal ended it.' },
    signal: { type: 'string', description: 'Signal that ended the command.' },
    timed_out: { type: 'boolean' },
    stdout: STREAM,
    stderr: STREAM,
    stdout_bytes: { type: 'integer', description: 'Bytes that the command wrote to standard output.' },
    stderr_bytes: { type: 'integer', description: 'Bytes that the command wrote to standard error.' },
    masked: { type: 'integer', description: 'Number of replacements in both streams.' },
  },
  required: ['timed_out'],
  additionalProperties: false,
};

interface Call {
  readonly map: SecretsMap;
  readonly command: MapCommand;
  readonly input: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
}

async function runCommand(shared: CommandContext, { map, command, input, signal }: Call) {
  // Read once for each call, as its command may ask for a passphrase.
  const identity = await shared.readIdentity();
  // Before the command starts: without the text of the key, it could not be replaced.
  const signingKey = command.hasOutput ? await shared.readSigningKey() : undefined;
  const session = { ...shared, readIdentity: async () => identity };
  const chosen = map.entries
    .map((entry) => ({ variable: toEntryVariable(entry), slug: entry.slug, id: undefined }))
    .filter(({ variable }) => command.variables.includes(variable));
  const values = toTexts(await openValues(session, chosen));
  if (command.hasOutput) assertHidden(values);
  const result = await start(session, { map, command, input, signal, values });
  const { exitCode, exitSignal, isTimedOut } = result;
  const ended = {
    ...(exitCode !== undefined && { exit_code: exitCode }),
    ...(exitSignal !== undefined && { signal: exitSignal }),
    timed_out: isTimedOut,
  };
  const isError = exitCode !== 0;
  if (!command.hasOutput) return { content: ended, isError };
  const mask = new TextMask([...Object.values(values), session.token, ...toSecretLines(identity, signingKey)]);
  const [stdout, stderr] = [toShown(result.stdout, mask), toShown(result.stderr, mask)];
  const sizes = { stdout_bytes: result.stdout.totalBytes, stderr_bytes: result.stderr.totalBytes };
  const output = { stdout: stdout.text, stderr: stderr.text, ...sizes, masked: stdout.count + stderr.count };
  return { content: { ...ended, ...output }, isError };
}

/** Returns the lines of keys, without comments and the frames of PEM. */
const toSecretLines = (...keys: readonly (string | undefined)[]): string[] =>
  keys.flatMap((key = '') => key.split(/\r?\n/).filter((line) => !/^(?:#|-----)/.test(line)));

/** @throws CommandError for values that can't be found in the output. */
function assertHidden(values: Readonly<Record<string, string>>): void {
  const short = Object.entries(values).find(([, value]) => Buffer.byteLength(value) < MIN_HIDDEN);
  if (short !== undefined) {
    const [variable] = short;
    throw new CommandError(
      `${variable} is shorter than ${MIN_HIDDEN} bytes, so it can't be hidden; the command was not started. Set "output: none"`,
      EXIT.conflict,
    );
  }
  const bytes = Object.values(values).reduce((sum, value) => sum + Buffer.byteLength(value), 0);
  if (bytes <= MAX_HIDDEN_BYTES) return;
  throw new CommandError(
    `The values have more than ${MAX_HIDDEN_BYTES} bytes, so they can't be hidden; the command was not started. Set "output: none"`,
    EXIT.conflict,
  );
}

async function start(
  { terminal }: CommandContext,
  { map, command, input, signal, values }: Call & { readonly values: Readonly<Record<string, string>> },
) {
  const filled = fillCommand(command, input);
  try {
    return await runBounded({
      command: filled,
      folder: dirname(map.file),
      env: { ...withoutCredentials(terminal.env), ...values },
      timeoutMs: command.timeoutSeconds * 1000,
      maxBytes: MAX_OUTPUT_BYTES + MARGIN_BYTES,
      signal,
    });
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException;
    throw new CommandError(`${command.name}: ${filled[0]} can't be run: ${code}`, EXIT.failed);
  }
}

/** Masks the kept bytes before they are cut, so that no part of a value at the cut is left. */
function toShown({ bytes, totalBytes }: Captured, mask: TextMask): { readonly text: string; readonly count: number } {
  const masked = mask.mask(bytes);
  const whole = totalBytes > bytes.length ? masked.bytes.subarray(MARGIN_BYTES) : masked.bytes;
  return { text: whole.subarray(-MAX_OUTPUT_BYTES).toString(), count: masked.count };
}
