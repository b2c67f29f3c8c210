import { Command } from 'commander';
import { type Config, inspectConfig } from '../config/config.js';
import { CONFIG_OPTION_NAMES, CONFIG_OPTIONS, type ConfigValues } from '../config/options.js';
import { addServerOptions } from './server-options.js';

interface Flags extends Readonly<Record<string, string | true | undefined>> {
  readonly json?: true;
}

/** `trellis check-config`: validates all settings and prints them, without opening or starting anything. */
export function checkConfigCommand(out: NodeJS.WritableStream): Command {
  return addServerOptions(new Command('check-config'), ...Object.values(CONFIG_OPTIONS))
    .description('Validate all settings, and print their values and sources; secrets are not shown')
    .option('--json', 'print JSON')
    .action(async ({ json, ...flags }: Flags) => {
      process.exitCode = await checkConfig({ flags: flags as Record<string, string>, json: json === true, out });
    });
}

interface CheckOptions {
  readonly flags: Readonly<Record<string, string | undefined>>;
  readonly env?: NodeJS.ProcessEnv;
  readonly json: boolean;
  readonly out: NodeJS.WritableStream;
}

/** Prints the settings, or all mistakes. @returns the exit code: 1 for mistakes. */
export async function checkConfig({ json, out, ...sources }: CheckOptions): Promise<number> {
  const inspection = await inspectConfig(sources);
  const mistakes = inspection.mistakes.map(({ message }) => message);
  const settings = inspection.config === undefined ? [] : listSettings(inspection.config, inspection.given);
  if (json) out.write(`${JSON.stringify({ settings, mistakes }, undefined, 2)}\n`);
  else out.write([...settings.map(toLine), ...mistakes].map((line) => `${line}\n`).join(''));
  return mistakes.length === 0 ? 0 : 1;
}

interface Setting {
  readonly name: string;
  readonly variable: string;
  /** Absent for a setting without a value. */
  readonly value?: unknown;
  /** A variable, a flag, a key of the configuration file, or `default`. */
  readonly source: string;
}

type Given = Awaited<ReturnType<typeof inspectConfig>>['given'];

const listSettings = (config: Config, given: Given): Setting[] =>
  CONFIG_OPTION_NAMES.filter((name) => CONFIG_OPTIONS[name].fileOf === undefined).map((name) => ({
    name,
    variable: CONFIG_OPTIONS[name].env,
    value: readValue(name, config, given),
    source: toSource(given.get(name)),
  }));

function readValue(name: keyof ConfigValues, config: Config, given: Given): unknown {
  const received = given.get(name)?.value;
  if (CONFIG_OPTIONS[name].isSecret) return received === undefined ? undefined : SECRET;
  if (name === 'siteAccess') return config.siteAccess.kind;
  if (name === 'auditExport') return config.auditExport.map(withoutPath);
  return (config as unknown as Readonly<Record<string, unknown>>)[name] ?? received;
}

/** The URL of a receiver may contain a credential. */
const withoutPath = (place: string): string => place.replace(/^(https?:\/\/)(?:[^/]*@)?([^/?#]*).+$/, '$1$2/…');

const SECRET = '(secret)';

function toSource(given: ReturnType<Given['get']>): string {
  if (given === undefined) return 'default';
  return given.secretFile === undefined ? given.source : `${given.source} (${given.secretFile})`;
}

function toLine({ variable, value, source }: Setting): string {
  const text = Array.isArray(value) ? value.join(',') : `${(value as boolean | number | string | undefined) ?? ''}`;
  return `${variable}=${text}  # ${source}`;
}
