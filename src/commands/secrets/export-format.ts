import { parseEnv } from 'node:util';
import { parse } from 'dotenv';
import { CommandError } from '../../config/startup-error.js';
import { parseEnvFile } from '../../sealing/env-file.js';
import { SEALED_PREFIX, toKebab, toVariable } from '../../sealing/env-names.js';
import { EXIT } from './options.js';

export type TransferFormat = 'dotenv' | 'json' | 'yaml';

/** A value with its metadata. */
export interface ExportedSecret {
  readonly slug: string;
  /** Sealed or plain. */
  readonly value: Uint8Array;
  readonly isSealed: boolean;
  readonly usedBy?: readonly string[];
  readonly tags?: readonly string[];
  readonly description?: string;
  readonly rotateAfterDays?: number;
  readonly recipients?: readonly string[];
}

/** Marks the output of "export", with its version. */
const FORMAT = 'trellis-secrets/1';

/** An entry with the names of the contract, and the value in one of three forms. */
interface ExportedObject {
  readonly slug: string;
  readonly sealed: string;
  readonly base64: string;
  readonly text: string;
  readonly used_by: readonly string[];
  readonly tags: readonly string[];
  readonly description: string;
  readonly rotate_after_days: number;
  readonly recipients: readonly string[];
}

export function formatExport(entries: readonly ExportedSecret[], format: TransferFormat): string {
  if (format === 'json') return formatJson(entries);
  return entries.map(format === 'yaml' ? formatYamlLine : formatLine).join('');
}

/** Writes a value as a double-quoted string, with escapes for all characters that parsers of YAML 1.1 and 1.2 treat differently. */
function formatYamlLine({ slug, value, isSealed }: ExportedSecret): string {
  const text = isSealed ? SEALED_PREFIX + Buffer.from(value).toString('base64') : findText(value);
  if (text !== undefined) return `${JSON.stringify(slug)}: ${JSON.stringify(text).replace(YAML_SPECIAL, toEscape)}\n`;
  throw new CommandError(`The value of ${slug} is not text, which YAML requires; use --format json`, EXIT.usage);
}

/** Control and format characters, separators, and characters that YAML does not allow. */
const YAML_SPECIAL = /[\u007f-\u00a0\u2028\u2029\ufeff\ufffe\uffff]/g;

const toEscape = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

function formatJson(entries: readonly ExportedSecret[]): string {
  const objects = entries.map(({ slug, value, isSealed, usedBy, tags, description, rotateAfterDays, recipients }) => {
    const text = isSealed ? undefined : findText(value);
    const base64 = Buffer.from(value).toString('base64');
    const known = { used_by: usedBy, tags, description, rotate_after_days: rotateAfterDays, recipients };
    return { slug, ...known, ...(isSealed ? { sealed: base64 } : text === undefined ? { base64 } : { text }) };
  });
  return `${JSON.stringify({ format: FORMAT, objects }, undefined, 2)}\n`;
}

/** Quotes a value so that shells, Node.js and dotenv read the same text; these differ in escapes and in backquotes. */
function formatLine({ slug, value, isSealed }: ExportedSecret): string {
  const name = toVariable(slug);
  const text = isSealed ? SEALED_PREFIX + Buffer.from(value).toString('base64') : findText(value);
  if (text !== undefined && !text.includes('\0')) {
    const quotes = text.includes("'") ? '"' : "'";
    const line = `${name}=${quotes}${text}${quotes}\n`;
    // dotenv skips a quote after a backslash, if a later line has one.
    const isLiteral = quotes === "'" ? !text.endsWith('\\') : !/["$`\\]/.test(text);
    if (isLiteral && [parse(line), parseEnv(line)].every((found) => isOnly(found, name, text))) return line;
  }
  throw new CommandError(
    `The value of ${slug} can't be written so that every reader of .env files agrees; use --format json`,
    EXIT.usage,
  );
}

function isOnly(found: Readonly<Record<string, string | undefined>>, name: string, text: string): boolean {
  return Object.keys(found).length === 1 && found[name] === text;
}

function findText(value: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(value);
  } catch {
    return undefined;
  }
}

/** @throws CommandFailure for other content; messages never contain it. */
export async function parseExport(
  text: string,
  format: TransferFormat,
  names: 'as-is' | 'kebab',
): Promise<ExportedSecret[]> {
  if (format === 'dotenv') return fromTexts(parseEnvFile(text).entries, names);
  const content = format === 'json' ? parseJson(text) : await parseYaml(text);
  if (isExport(content)) return content.objects.map(toEntry);
  if (isTexts(content)) return fromTexts(Object.entries(content), names);
  throw formatError();
}

const formatError = (): CommandError =>
  new CommandError('Expected the output of "export", or a JSON object that maps names to strings', EXIT.usage);

/** Texts without quotes, such as no or 0123, are accepted if YAML 1.1 and 1.2 agree that they are texts. */
async function parseYaml(text: string): Promise<unknown> {
  const { parseDocument, isScalar, isMap } = await import('yaml');
  const [newer, older] = (['1.2', '1.1'] as const).map((version) => {
    const { contents, errors } = parseDocument(text, { version });
    if (errors.length > 0 || !isMap(contents)) return undefined;
    const pairs = contents.items.map(({ key, value }) => [key, value].map((node) => isScalar(node) && node.value));
    return pairs.flat().every((each) => typeof each === 'string') ? (pairs as [string, string][]) : undefined;
  });
  if (newer === undefined || JSON.stringify(newer) !== JSON.stringify(older)) throw yamlError();
  return Object.fromEntries(newer);
}

const yamlError = (): CommandError =>
  new CommandError('Expected a YAML map of names to strings. Put quotes around numbers, dates, yes and no', EXIT.usage);

function parseJson(text: string): unknown {
  try {
    // PowerShell writes a byte order mark.
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch {
    // The message of the parser contains a part of the text.
    throw formatError();
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isTexts = (value: unknown): value is Readonly<Record<string, string>> =>
  isObject(value) && Object.values(value).every((each) => typeof each === 'string');

const isStrings = (value: unknown): boolean => Array.isArray(value) && value.every((each) => typeof each === 'string');

const isExport = (value: unknown): value is { readonly objects: readonly unknown[] } =>
  isObject(value) && value.format === FORMAT && Array.isArray(value.objects);

function fromTexts(texts: readonly (readonly [string, string])[], names: 'as-is' | 'kebab'): ExportedSecret[] {
  return texts.map(([name, text]) => {
    const slug = names === 'kebab' ? toKebab(name) : name;
    return text.startsWith(SEALED_PREFIX)
      ? { slug, value: Buffer.from(text.slice(SEALED_PREFIX.length), 'base64'), isSealed: true }
      : { slug, value: Buffer.from(text), isSealed: false };
  });
}

/** Checks the types only; the service validates the rest. */
function toEntry(content: unknown): ExportedSecret {
  if (!isObject(content)) throw formatError();
  const { slug, sealed, base64, text, used_by, tags, description, rotate_after_days, recipients } =
    content as Partial<ExportedObject>;
  const value = sealed ?? base64 ?? text;
  if (typeof slug !== 'string' || typeof value !== 'string') throw formatError();
  if (![used_by, tags, recipients].every((list) => list === undefined || isStrings(list))) throw formatError();
  if (typeof (description ?? '') !== 'string' || typeof (rotate_after_days ?? 1) !== 'number') throw formatError();
  return {
    slug,
    value: Buffer.from(value, value === text ? 'utf8' : 'base64'),
    isSealed: sealed !== undefined,
    ...{ usedBy: used_by, tags, description, rotateAfterDays: rotate_after_days, recipients },
  };
}
