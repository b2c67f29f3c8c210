// Runs a browser for the test files of one worker, and closes it when the worker ends in whatever way. The worker itself
// would have to wait for the end of the browser before it could delete its profile.
import process from 'node:process';
import { chromium } from 'playwright-core';

const [executablePath] = process.argv.slice(2);
const server = await chromium.launchServer({
  executablePath,
  // Chromium's sandbox does not work for root in containers. The pages are our own.
  args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update'],
  // Long enough for a busy machine.
  timeout: 120_000,
});
process.once('disconnect', () => void server.close().finally(() => process.exit()));
if (process.connected) process.send(server.wsEndpoint());
else process.emit('disconnect');
