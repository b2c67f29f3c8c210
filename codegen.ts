import type { CodegenConfig } from '@graphql-codegen/cli';
// A path, so that graphql-codegen needs no build of the package.
import { createCodegenConfig } from './packages/codegen/src/targets.js';
import project from './trellis.config.js';

/** The targets: a folder of `src/generated` for the site, and one for each service of `trellis.config.ts`. */
const config: CodegenConfig = createCodegenConfig(project, {
  callers: '../../accounts/callers.js',
  siteContext: '../../resolvers/context.js#SiteContext<RecordsByKind>',
});

export default config;
