import type { Types } from '@graphql-codegen/plugin-helpers';
import { readDocuments } from '../documents.js';
import { toOutputs } from '../generator-output.js';
import { generateService } from './generate-service.js';
import type { RestServiceName } from './generate-service.js';

/** The configuration of the preset in `codegen.ts`. */
interface PresetConfig {
  service: RestServiceName;
  /** The contract and the documents that it refers to, as paths from the working directory. */
  documents: readonly string[];
}

/**
 * The preset that generates the files of a REST service from its OpenAPI documents.
 *
 * @throws ContractError with all errors in the documents.
 */
export const preset: Types.OutputPreset<PresetConfig> = {
  async buildGeneratesSection(options) {
    const { service, documents } = options.presetConfig;
    return toOutputs(options, await generateService(service, await readDocuments(process.cwd(), documents)));
  },
};
