import path from 'node:path';
import { CodegenContext, executeCodegen } from '@graphql-codegen/cli';
import type { CodegenPlugin, Types } from '@graphql-codegen/plugin-helpers';
import * as typescript from '@graphql-codegen/typescript';
import * as typescriptResolvers from '@graphql-codegen/typescript-resolvers';
import type { OutputDetails, GeneratorOutput } from '@trellis/codegen/output';
import { deriveFullSchema } from '@trellis/codegen/site/load-schema';
import * as siteResolvers from '@trellis/codegen/site/resolvers-plugin';
import config from '../../../codegen.js';

const OUTPUT = 'src/generated/site/';

/** Runs the site's entry of `codegen.ts` over documents (path → SDL). */
export async function generateSite(documents: ReadonlyMap<string, string>): Promise<GeneratorOutput> {
  const site = { ...(config.generates[OUTPUT] as Types.ConfiguredOutput), schema: deriveFullSchema(documents) };
  const context = new CodegenContext({ config: { ...config, ...IN_TESTS, generates: { [OUTPUT]: site } } });
  const { result, error } = await executeCodegen(context);
  if (error) throw error;
  const details = context.getPluginContext()[OUTPUT] as OutputDetails;
  return {
    ...details,
    files: new Map(result.map(({ filename, content }) => [filename.slice(OUTPUT.length), content])),
  };
}

const PLUGINS = new Map<string, CodegenPlugin>([
  ['typescript', typescript],
  ['typescript-resolvers', typescriptResolvers],
  ['resolvers-plugin.ts', siteResolvers],
]);

/** The test runner compiles TypeScript itself, and cannot import the modules of several plugins at the same time. */
const IN_TESTS: Pick<Types.Config, 'pluginLoader' | 'require' | 'silent'> = {
  pluginLoader: (name) => PLUGINS.get(path.basename(name)) ?? Promise.reject(new Error(`No plugin ${name}.`)),
  require: [],
  silent: true,
};
