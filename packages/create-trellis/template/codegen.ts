import { createCodegenConfig } from '@trellis/codegen/targets';
import project from './trellis.config.js';

// What "npm run generate" writes: a folder of src/generated for each service of trellis.config.ts.
export default createCodegenConfig(project);
