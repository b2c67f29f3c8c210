import process from 'node:process';

/**
 * A Jest environment without a context of its own: tests run in the realm of the worker, so that it loads the
 * application once and not once per file. Changes of the environment variables end with the file.
 */
export default class SharedRealm {
  global = globalThis;
  #variables = { ...process.env };
  #console = globalThis.console;
  #exit = process.exit;
  #prepareStackTrace = Error.prepareStackTrace;

  constructor({ projectConfig }) {
    // jest-circus keeps its handlers, and with them the environments of earlier files, at the global object.
    Reflect.deleteProperty(globalThis, Symbol.for('EVENT_HANDLERS'));
    Object.assign(globalThis, projectConfig.globals);
  }

  async setup() {
    Error.prepareStackTrace = printStack;
  }

  async teardown() {
    for (const name of Object.keys(process.env))
      if (!(name in this.#variables)) Reflect.deleteProperty(process.env, name);
    Object.assign(process.env, this.#variables);
    globalThis.console = this.#console;
    process.exit = this.#exit;
    Error.prepareStackTrace = this.#prepareStackTrace;
  }

  getVmContext() {
    return null;
  }

  exportConditions() {
    return ['trellis-source', 'node', 'node-addons'];
  }
}

/** Prints files as paths, which Jest shows relative to the project, and without the number of the run. */
function printStack(error, frames) {
  const lines = frames.map((frame) => `\n    at ${String(frame).replace(/file:\/\/([^?:)]*)(?:\?run=\d+)?/u, '$1')}`);
  return `${Error.prototype.toString.call(error)}${lines.join('')}`;
}
