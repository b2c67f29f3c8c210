/**
 * Loaded into a server under test with `--import`: blocks and prints connections to any other address than loopback,
 * before the name is resolved.
 */
import { Socket } from 'node:net';
import process from 'node:process';

const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|::1|::ffff:127\.\d+\.\d+\.\d+)$/;

const connect = Socket.prototype.connect;
Socket.prototype.connect = function (...args) {
  const [options] = Array.isArray(args[0]) ? args[0] : args;
  const host = typeof options === 'object' && options !== null ? (options.host ?? 'localhost') : 'localhost';
  if (LOOPBACK.test(host)) return connect.apply(this, args);
  process.stderr.write(`blocked connection to ${host}\n`);
  process.nextTick(() => this.destroy(Object.assign(new Error('Not a loopback address'), { code: 'ECONNREFUSED' })));
  return this;
};
