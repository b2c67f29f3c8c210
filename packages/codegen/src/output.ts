import type { Types } from '@graphql-codegen/plugin-helpers';
import type { Diagnostic, Location } from './documents.js';

/** A file with an object literal that developers implement, and the members that the contract requires. */
export interface Stub {
  /** Path from the repository root. */
  file: string;
  /** The text of a new file up to and including the opening brace of the object literal. */
  header: string;
  /** The text of a new file from the closing brace on. */
  footer: string;
  /** The exported constant or function that declares or returns the object literal. */
  exportName: string;
  /** `text` is a complete member with its trailing comma and without indentation. */
  members: readonly { name: string; text: string }[];
  /** The file that uses the object, and the lines to add there. `--stub` prints them if they are missing. */
  use?: {
    file: string;
    lines: readonly string[];
    /** The text of the file, if `--stub` writes it when it does not exist. */
    create?: string;
  };
}

/** Details about the files of an output folder that `--check` and `--stub` use. */
export interface OutputDetails {
  /** Returns the contract lines that names in generated text come from. Only `--check` needs them. */
  origins: () => ReadonlyMap<string, Location>;
  /** For files that are traced by line instead of by name: path → a lookup of the contract line by line, from 1. */
  lineOrigins?: ReadonlyMap<string, (line: number) => Location | undefined>;
  /** The stubs that `--stub` writes if they are missing. */
  stubs: readonly Stub[];
  /** What deserves a look in the documents, but does not stop the generation. */
  warnings?: readonly Diagnostic[];
}

/** The result of a generator. Paths are relative to the output folder. */
export interface GeneratorOutput extends OutputDetails {
  /** Path → text. */
  files: ReadonlyMap<string, string>;
}

/** The plugin of outputs that are text. */
const TEXT_PLUGIN = { plugin: (_schema: unknown, _documents: unknown, { text }: { text: string }) => text };

/**
 * Converts the output of a generator to the outputs of a graphql-codegen preset. Preset outputs carry text only, so the
 * details are stored in the plugin context under the output folder.
 */
export function toOutputs(
  options: Types.PresetFnArgs,
  { files, ...details }: GeneratorOutput,
): Types.GenerateOptions[] {
  if (options.pluginContext) options.pluginContext[options.baseOutputDir] = details;
  return [...files].map(([name, text]) => ({
    ...options,
    filename: options.baseOutputDir + name,
    plugins: [{ text: { text } }],
    pluginMap: { text: TEXT_PLUGIN },
  }));
}

/** Returns the text of an output of {@link toOutputs}; `undefined` for an output of other plugins. */
export function findOutputText({ plugins: [plugin], pluginMap }: Types.GenerateOptions): string | undefined {
  return pluginMap.text === TEXT_PLUGIN ? (plugin?.text as { readonly text: string } | undefined)?.text : undefined;
}

/** Converts to PascalCase: `createToken` → `CreateToken`, `Audit log` → `AuditLog`. */
export function pascal(name: string): string {
  return words(name)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
}

/** Converts to camelCase: `Audit log` → `auditLog`. */
export function camel(name: string): string {
  const text = pascal(name);
  return text.charAt(0).toLowerCase() + text.slice(1);
}

/** Converts to kebab-case: `Audit log` → `audit-log`. */
export function kebab(name: string): string {
  return words(name.replace(/([a-z0-9])([A-Z])/g, '$1 $2'))
    .join('-')
    .toLowerCase();
}

function words(name: string): string[] {
  return name.split(/[^\p{L}\p{M}\p{Nd}]+/u).filter((word) => word !== '');
}

export const inputName = (typeName: string): string => `${typeName}Input`;
export const outputName = (typeName: string): string => `${typeName}Output`;
export const handlersName = (name: string): string => toIdentifier(`${pascal(name)}Handlers`);

/** Returns the name of a tag in generated code. One of several tags may be named like the service. */
export const toGroupName = (tag: string, service: string, tagCount: number): string =>
  tagCount > 1 && handlersName(tag) === handlersName(service) ? `${tag} tag` : tag;

/** Returns a name that starts with a digit with an underscore before it. */
export const toIdentifier = (name: string): string => (/^\p{Nd}/u.test(name) ? `_${name}` : name);

/** Returns the name of a property in TypeScript syntax, quoted if necessary. */
export function toKey(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : toStringLiteral(name);
}

/** Returns a text as a string literal in single quotes. */
export function toStringLiteral(text: string): string {
  return `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
}

/** Returns a doc comment with the text, which may contain anything; an empty string for a blank text. */
export function docstring(text: string, indent = ''): string {
  const lines = text.trim().replaceAll('*/', '* /').split('\n');
  if (text.trim() === '') return '';
  if (lines.length === 1) return `${indent}/** ${lines[0] ?? ''} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}`.trimEnd()).join('\n')}\n${indent} */\n`;
}

/** A module, and the names that are imported or exported from it: `ServiceClient`, or `type ServiceClient` for a type. */
type ModuleNames = readonly [module: string, ...names: string[]];

/** Prints one statement for each module, even if it is listed more than once. Modules without names are omitted. */
export function printModules(keyword: 'export' | 'import', list: readonly ModuleNames[]): string {
  const byModule = new Map<string, string[]>();
  for (const [module, ...names] of list) byModule.set(module, [...(byModule.get(module) ?? []), ...names]);
  const statements = [...byModule].filter(([, names]) => names.length > 0);
  return statements.map(([module, names]) => `${keyword} ${printNames(names)} from '${module}';\n`).join('');
}

function printNames(names: readonly string[]): string {
  const types = names.flatMap((name) => (name.startsWith('type ') ? name.slice('type '.length) : []));
  return types.length === names.length ? `type { ${types.join(', ')} }` : `{ ${names.join(', ')} }`;
}

/** Longer literals are split into lines, so that the diff of a changed field is small. */
const MAX_WIDTH = 180;

/** Prints plain data as a TypeScript expression. */
export function printLiteral(value: unknown, indent = ''): string {
  if (typeof value === 'string') return toStringLiteral(value);
  if (typeof value !== 'object' || value === null) return String(value);
  const inner = `${indent}  `;
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  const items = (deeper: string): string[] =>
    Array.isArray(value)
      ? value.map((item) => printLiteral(item, deeper))
      : Object.entries(value).map(([key, item]) => `${toKey(key)}: ${printLiteral(item, deeper)}`);
  const broken = items(inner);
  const pad = Array.isArray(value) || broken.length === 0 ? '' : ' ';
  const line = `${open}${pad}${broken.join(', ')}${pad}${close}`;
  if (!line.includes('\n') && indent.length + line.length <= MAX_WIDTH) return line;
  return `${open}\n${broken.map((item) => `${inner}${item},\n`).join('')}${indent}${close}`;
}
