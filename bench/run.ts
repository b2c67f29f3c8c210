import { Command } from 'commander';

import { benchBoard } from './board.js';
import type { BoardBenchOptions } from './board.js';
import { benchCrawl } from './crawl.js';
import { benchDashboard } from './dashboard.js';
import type { DashboardBenchOptions } from './dashboard.js';
import { benchImages } from './images.js';
import type { ImageBenchOptions } from './images.js';
import { benchLive } from './live.js';
import { benchMalicious } from './malicious.js';
import { benchPages } from './pages.js';
import { benchQueries } from './queries.js';
import { benchRest } from './rest.js';
import { benchScale } from './scale.js';
import { benchSecrets } from './secrets.js';
import type { SecretsBenchOptions } from './secrets.js';

const count = (text: string): number => {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new Error(`Expected a whole number above 0; received ${text}.`);
  return value;
};

const program = new Command('npm run bench --').description('Measures Trellis beside the limits of its machine.');

program
  .command('crawl', { isDefault: true })
  .description('cold and warm index of a folder, beside a bare walk')
  .option('--files <count>', 'how many files', count, 20_000)
  .option('--folders <count>', 'in how many folders', count, 1000)
  .option('--rounds <count>', 'how often each is run, in turns', count, 5)
  .action(async (options: { files: number; folders: number; rounds: number }) => {
    process.stdout.write(`${await benchCrawl(options)}\n`);
  });

program
  .command('queries')
  .description('start, memory and requests per second of five queries, beside the engine with constant answers')
  .option('--files <count>', 'how many files', count, 20_000)
  .option('--folders <count>', 'in how many folders', count, 1000)
  .option('--rounds <count>', 'how often each is run, in turns', count, 3)
  .option('--seconds <count>', 'how long each query is sent in a round', count, 4)
  .action(async (options: { files: number; folders: number; rounds: number; seconds: number }) => {
    process.stdout.write(`${await benchQueries(options)}\n`);
  });

program
  .command('pages')
  .description('first load and scrolling of the board in Chromium, as on a phone')
  .option('--rounds <count>', 'how often each is run', count, 3)
  .action(async (options: { rounds: number }) => {
    process.stdout.write(`${await benchPages(options)}\n`);
  });

program
  .command('scale')
  .description('queries over 1,000 and 100,000 files, just after a record changed and again')
  .option('--rounds <count>', 'how often each is run, in turns', count, 15)
  .action(async (options: { rounds: number }) => {
    process.stdout.write(`${await benchScale(options)}\n`);
  });

program
  .command('live')
  .description('how long until a changed file is visible to queries')
  .option('--files <count>', 'how many files', count, 20_000)
  .option('--folders <count>', 'in how many folders', count, 1000)
  .option('--changes <count>', 'how many changes of each sort', count, 100)
  .action(async (options: { files: number; folders: number; changes: number }) => {
    process.stdout.write(`${await benchLive(options)}\n`);
  });

program
  .command('images')
  .description('answers about images, making them and serving them, each beside the least that it could cost')
  .option('--pictures <count>', 'how many pictures the query shows', count, 200)
  .option('--megapixels <count>', 'of how many megapixels each is', count, 24)
  .option('--made <count>', 'of how many of them the images are made', count, 200)
  .option('--rounds <count>', 'how often each is asked, in turns', count, 5)
  .option('--seconds <count>', 'how long each server is asked in a round', count, 4)
  .action(async (options: ImageBenchOptions) => {
    process.stdout.write(`${await benchImages(options)}\n`);
  });

program
  .command('rest')
  .description('requests per second of three operations of the dashboard, beside Express alone')
  .option('--rounds <count>', 'how often each is run, in turns', count, 5)
  .option('--seconds <count>', 'how long each operation is sent in a round', count, 4)
  .action(async (options: { rounds: number; seconds: number }) => {
    process.stdout.write(`${await benchRest(options)}\n`);
  });

program
  .command('dashboard')
  .description('answers per second of a large board, with and without an ETag, beside Express with its bytes ready')
  .option('--pull-requests <count>', 'how many pull requests the board has', count, 2000)
  .option('--rounds <count>', 'how often each is run, in turns', count, 3)
  .option('--seconds <count>', 'how long each is sent in a round', count, 4)
  .action(async (options: DashboardBenchOptions) => {
    process.stdout.write(`${await benchDashboard(options)}\n`);
  });

program
  .command('board')
  .description('reading three forges, first and later, and how soon a webhook’s change is seen')
  .option('--repositories <count>', 'how many they have in all', count, 300)
  .option('--pull-requests <count>', 'how many of those are open', count, 2_000)
  .option('--deliveries <count>', 'how many changes a webhook tells of', count, 20)
  .action(async (options: BoardBenchOptions) => {
    process.stdout.write(`${await benchBoard(options)}\n`);
  });

program
  .command('secrets')
  .description('readers and writers of secrets together, and audited reads beside Express alone, on each engine')
  .option('--seconds <count>', 'how long readers and writers are at it together', count, 60)
  .option('--rounds <count>', 'how often reads alone are measured, in turns', count, 3)
  .option('--round-seconds <count>', 'how long each is sent in a round', count, 4)
  .option('--engines <names...>', 'sqlite, postgres', ['sqlite', 'postgres'])
  .action(async (options: SecretsBenchOptions) => {
    process.stdout.write(`${await benchSecrets(options)}\n`);
  });

program
  .command('malicious')
  .description('200 queries that try to use the server up, and how long ordinary ones wait meanwhile')
  .option('--files <count>', 'how many files', count, 100_000)
  .option('--folders <count>', 'in how many folders', count, 5000)
  .action(async (options: { files: number; folders: number }) => {
    process.stdout.write(`${await benchMalicious(options)}\n`);
  });

await program.parseAsync();
