import type { Types } from '@graphql-codegen/plugin-helpers';
import type { Location } from './contract-error.js';

/** An object literal that a person fills in, and the members that the contract asks of it. */
export interface Stub {
  /** Path from the repository root. */
  file: string;
  /** Text of a new file up to and including the opening brace of the object literal. */
  header: string;
  /** Text of a new file from the closing brace on. */
  footer: string;
  /** The exported constant or function that declares or returns the object literal. */
  exportName: string;
  /** `text` is a whole member with its trailing comma and without its indentation. */
  members: readonly { name: string; text: string }[];
  /** The file that uses it, and the lines to add there; `--stub` prints them where they are missing. */
  use?: { file: string; lines: readonly string[] };
}

/** What `--check` and `--stub` need to know about the files of an output folder. */
export interface Details {
  /** Names that appear in generated text → the contract line behind them. */
  origins: ReadonlyMap<string, Location>;
  /** For a file whose lines say more than names do: path → the contract line behind a line, from 1. */
  lineOrigins?: ReadonlyMap<string, (line: number) => Location | undefined>;
  /** Skeletons that `--stub` may write. */
  stubs: readonly Stub[];
}

/** The result of a generator. Paths are relative to the output folder. */
export interface Generated extends Details {
  /** Path → text. */
  files: ReadonlyMap<string, string>;
}

const TEXT_PLUGIN = { plugin: (_schema: unknown, _documents: unknown, { text }: { text: string }) => text };

/**
 * Turns the result of a generator into the outputs of a preset. Its details are stored
 * in the plugin context under the output folder, since outputs carry text only.
 */
export function toOutputs(options: Types.PresetFnArgs, { files, ...details }: Generated): Types.GenerateOptions[] {
  if (options.pluginContext) options.pluginContext[options.baseOutputDir] = details;
  return [...files].map(([name, text]) => ({
    ...options,
    filename: options.baseOutputDir + name,
    plugins: [{ text: { text } }],
    pluginMap: { text: TEXT_PLUGIN },
  }));
}
