import { Session } from 'node:inspector/promises';
import { createRequire, register } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { shouldInstrument } from '@jest/transform';

register('./typescript.js', import.meta.url);
const require = createRequire(import.meta.url);

/** Coverage must start before the modules are compiled, and continue while they are in use. */
let profiler;

/**
 * The part of Jest's runtime that runs a test file, on Node's own module loader. Other than Jest's, it has no registry
 * of modules for each file, hence no mocks of modules; what a worker has imported stays loaded.
 */
export default class NativeRuntime {
  /** Counts the test files of this worker. */
  static #runs = 0;

  #options;
  #config;
  #coverage = [];
  #run = String((NativeRuntime.#runs += 1));

  constructor(config, environment, resolver, transformer, cacheFS, options) {
    this.#config = config;
    this.#options = options;
  }

  unstable_shouldLoadAsEsm() {
    return true;
  }

  unstable_importModule(path) {
    return import(`${pathToFileURL(path).href}?run=${this.#run}`);
  }

  requireModule(path) {
    return require(path);
  }

  /** Loads jest-circus, whose module holds the state of one test file. */
  requireInternalModule(path) {
    Reflect.deleteProperty(require.cache, path);
    return require(path);
  }

  getSourceMaps() {
    return new Map();
  }

  async collectV8Coverage() {
    if (profiler !== undefined) return;
    profiler = new Session();
    profiler.connect();
    await profiler.post('Profiler.enable');
    await profiler.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  }

  async stopCollectingV8Coverage() {
    const { result } = await profiler.post('Profiler.takePreciseCoverage');
    const isCode = ({ url }) => url.startsWith('file://') && !url.includes('?');
    const files = result.filter(isCode).map((script) => ({ ...script, url: fileURLToPath(script.url) }));
    this.#coverage = files
      .filter(({ url }) => shouldInstrument(url, this.#options, this.#config))
      .map((script) => ({ result: script }));
  }

  getAllV8CoverageInfoCopy() {
    return this.#coverage;
  }

  getAllCoverageInfoCopy() {}

  setGlobalsForRuntime() {}

  enterTestCode() {}

  leaveTestCode() {}

  teardown() {}
}
