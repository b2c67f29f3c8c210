import type { Types } from '@graphql-codegen/plugin-helpers';
import type { Location } from './contract-error.js';

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
  use?: { file: string; lines: readonly string[] };
}

/** Details about the files of an output folder that `--check` and `--stub` use. */
export interface OutputDetails {
  /** Names in generated text → the contract lines that they come from. */
  origins: ReadonlyMap<string, Location>;
  /** For files that are traced by line instead of by name: path → a lookup of the contract line by line, from 1. */
  lineOrigins?: ReadonlyMap<string, (line: number) => Location | undefined>;
  /** The stubs that `--stub` writes if they are missing. */
  stubs: readonly Stub[];
}

/** The result of a generator. Paths are relative to the output folder. */
export interface GeneratorOutput extends OutputDetails {
  /** Path → text. */
  files: ReadonlyMap<string, string>;
}

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
