import { Command } from 'commander';
import { accountsCommand } from './commands/accounts.js';
import { backupCommand, restoreCommand } from './commands/backup.js';
import { completeCommand, completionCommand, type GivenOptions } from './commands/completion.js';
import { checkConfigCommand, doctorCommand } from './commands/doctor/doctor.js';
import { exportCommand } from './commands/export.js';
import { imagesCommand } from './commands/images.js';
import { keysCommand } from './commands/keys.js';
import { migrateCommand } from './commands/migrate.js';
import { devCommand, projectCommands, reportMistakes } from './commands/project.js';
import { runProgram } from './commands/run-program.js';
import { addSecretsCommands, findNames } from './commands/secrets/secrets-command.js';
import { addServerOptions } from './commands/server-options.js';
import { tokensCommand } from './commands/tokens.js';
import { workloadRulesCommand } from './commands/workload-rules.js';
import { loadConfig } from './config/config.js';
import { readEnvironment } from './config/environment.js';
import { CONFIG_OPTIONS } from './config/options.js';

/** Runs the command that the arguments name; all commands are known to it. */
export async function runWholeProgram(version: string): Promise<void> {
  const program = new Command('trellis')
    .description('Serve site data over GraphQL, and a pull request dashboard and sealed secrets over REST.')
    .version(version);
  addServeOptions(program.command('serve'))
    .description('Start the server. Every option can also be set by environment variable or in trellis.config.*')
    .action(async ({ newDatabase, ...flags }: Record<string, string | undefined> & { readonly newDatabase?: true }) => {
      const config = await loadConfig({ flags });
      // Imported late, so that --help and errors in the configuration do not wait for the server's modules.
      const { serve } = await import('./main.js');
      await serve(config, { version, newDatabase, output: process.stdout, terminal: process.stderr, print });
    });
  for (const command of projectCommands({ version, print })) program.addCommand(command);
  program.addCommand(addServeOptions(devCommand({ print })));
  program.addCommand(imagesCommand());
  program.addCommand(exportCommand());
  const streams = { out: process.stdout, err: process.stderr };
  program.addCommand(tokensCommand(streams));
  program.addCommand(workloadRulesCommand(streams));
  program.addCommand(accountsCommand(streams));
  const backups = { release: version, out: process.stdout, terminal: process.stderr };
  program.addCommand(backupCommand(backups));
  program.addCommand(restoreCommand(backups));
  program.addCommand(migrateCommand(process.stdout));
  program.addCommand(keysCommand(process.stdout));
  program.addCommand(doctorCommand(process.stdout));
  program.addCommand(checkConfigCommand(process.stdout));
  reportMistakes(program);
  const terminal = { in: process.stdin, ...streams, env: readEnvironment() };
  addSecretsCommands(program, terminal);
  program.addCommand(completionCommand(streams));
  const findAll = (placeholder: string, options: GivenOptions) => findNames(placeholder, options, terminal);
  program.addCommand(completeCommand(program, { out: process.stdout, findNames: findAll }), { hidden: true });
  await runProgram(program);
}

const addServeOptions = (command: Command): Command =>
  addServerOptions(command, ...Object.values(CONFIG_OPTIONS)).option(
    '--new-database',
    'start with an empty database although the state folder was used with a different one',
  );

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
