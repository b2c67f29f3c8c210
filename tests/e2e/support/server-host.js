// Runs the built command line for one server after the other, so that the server's modules are loaded and compiled once.
import process from 'node:process';

const CLI = new URL('../../../dist/cli.js', import.meta.url).href;
let count = 0;

process.on('message', ({ args, env }) => void run(args, env));
// The module that ends this process with its parent has released the channel.
process.channel.ref();

/** Each import runs the command line again, which ends with SIGTERM; its imports stay loaded. */
async function run(args, env) {
  for (const name of Object.keys(process.env)) Reflect.deleteProperty(process.env, name);
  Object.assign(process.env, env);
  process.argv = [process.execPath, CLI, ...args];
  process.exitCode = 0;
  await import(`${CLI}?run=${(count += 1)}`);
  process.send(process.exitCode);
}
