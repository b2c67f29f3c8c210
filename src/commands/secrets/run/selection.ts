import { CommandError } from '../../../config/startup-error.js';
import { toVariable } from '../../../sealing/env-names.js';
import { openStoredValue } from '../age/open-value.js';
import { fetchSealedValues } from '../authentic-values.js';
import type { CommandContext } from '../context.js';
import { fetchSecrets } from '../objects.js';
import { EXIT, readNamed, omitUndefined } from '../options.js';
import { MAP_FILE, readSecretsMap, type SecretsMap, toEntryVariable } from './secrets-map.js';

/** A secret and its variable. */
interface Chosen {
  readonly variable: string;
  readonly slug: string;
  readonly id: string | undefined;
}

/** The options that select secrets. */
export interface SelectionOptions {
  readonly secret?: readonly string[];
  readonly tag?: readonly string[];
  readonly consumer?: string;
  readonly map?: string;
}

/** Selects secrets by options, by the map of the current folder, or by the consumer. @throws CommandError if none is selected. */
export async function choose(session: CommandContext, flags: SelectionOptions): Promise<Chosen[]> {
  const { secret = [], tag, consumer } = flags;
  const named: readonly Chosen[] = secret.map(parseChoice);
  const chosen: Chosen[] = [...named];
  const hasFilter = tag !== undefined || consumer !== undefined;
  const isOpen = !hasFilter && secret.length === 0;
  const map = await readSecretsMap(flags.map);
  if (map !== undefined && isOpen) {
    chosen.push(...map.entries.map((entry) => ({ variable: toEntryVariable(entry), slug: entry.slug, id: undefined })));
  } else if (hasFilter || (session.isConsumer && isOpen)) {
    // A consumer without a selection gets all of its secrets.
    const found = await fetchSecrets(session, { tag, consumer });
    if (found.length === 0) throw new CommandError(describeNone(flags), EXIT.notFound);
    const selected = found.flatMap(({ slug, id }) =>
      toVariables(slug, map).map((variable) => ({ variable, slug, id })),
    );
    chosen.push(...selected.filter((one) => isAllowed(one, { named, map })));
  }
  assertDistinct(chosen);
  return chosen;
}

function describeNone({ tag, consumer }: SelectionOptions): string {
  const wanted = [...(tag ?? []).map((one) => `the tag ${one}`), ...(consumer ? [`the consumer ${consumer}`] : [])];
  return wanted.length === 0 ? 'The consumer has no secrets' : `No secrets have ${wanted.join(' and ')}`;
}

/**
 * Returns the variables of a selected secret: those of the map, if there is one.
 *
 * @throws CommandError for a secret that the map does not list.
 */
function toVariables(slug: string, map: SecretsMap | undefined): readonly string[] {
  if (map === undefined) return [toVariable(slug)];
  const listed = map.entries.filter((entry) => entry.slug === slug);
  if (listed.length > 0) return listed.map(toEntryVariable);
  throw new CommandError(
    `${map.file} does not list ${slug}; the program was not started. Add it to the file, or select it with --secret`,
    EXIT.conflict,
  );
}

interface Allowed {
  readonly named: readonly Chosen[];
  readonly map: SecretsMap | undefined;
}

/**
 * Anyone with write access to the service chooses the names, so a variable that changes how programs load
 * code is set only if the user or the map names it. A named variable is not set twice.
 *
 * @throws CommandFailure for a selected secret with such a variable that is not named.
 */
function isAllowed({ variable, slug }: Chosen, { named, map }: Allowed): boolean {
  // The map names every secret that is selected.
  if (map !== undefined || !isLoaderVariable(variable)) return true;
  if (named.some((one) => one.variable === variable && one.slug === slug)) return false;
  throw new CommandError(
    `${slug} would set ${variable}, which changes how programs load code; the program was not started. ` +
      `To set it all the same, name it: --secret ${variable}=${slug}`,
    EXIT.conflict,
  );
}

function parseChoice(text: string): Chosen {
  const [, variable, slug = text] = /^([^=]*)=(.*)$/s.exec(text) ?? [];
  if (variable === undefined) return { variable: toVariable(slug), slug, id: undefined };
  if (/^[A-Za-z_]\w*$/.test(variable)) return { variable, slug, id: undefined };
  throw new CommandError('Expected --secret to be a name or VARIABLE=name', EXIT.usage);
}

/** Rejects secrets that would set the same variable: variants of a name, and names that differ in separators. */
function assertDistinct(chosen: readonly Chosen[]): void {
  if (chosen.length === 0) {
    throw new CommandError(`Select secrets with --secret, --tag, --consumer or ${MAP_FILE}`, EXIT.usage);
  }
  const names = chosen.map(({ variable }) => variable);
  const duplicate = names.find((name, index) => names.indexOf(name) !== index);
  if (duplicate === undefined) return;
  throw new CommandError(
    `Several secrets would set ${duplicate}. Use --secret VARIABLE=name to distinguish them`,
    EXIT.conflict,
  );
}

/** Fetches and opens the values of secrets, by their variables. */
export async function openValues(
  session: CommandContext,
  chosen: readonly Chosen[],
): Promise<ReadonlyMap<string, Uint8Array>> {
  const identity = await session.readIdentity();
  const sealed = await fetchSealedValues(
    session,
    chosen.map(({ slug, id }) => omitUndefined({ slug, id })),
  );
  const values = new Map<string, Uint8Array>();
  // In turn, as a program may ask the user for each.
  for (const [index, { variable, slug }] of chosen.entries()) {
    const value = sealed[index] ?? new Uint8Array();
    values.set(variable, await readNamed(slug, () => openStoredValue(value, identity, session.terminal)));
  }
  return values;
}

/** Returns values as texts. @throws CommandError for a value that a variable can't have. */
export function toTexts(values: ReadonlyMap<string, Uint8Array>): Readonly<Record<string, string>> {
  return Object.fromEntries([...values].map(([variable, value]) => [variable, toText(value, variable)]));
}

/** Environment variables are text without NUL. */
function toText(value: Uint8Array, variable: string): string {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(value);
    if (!text.includes('\0')) return text;
  } catch {
    // Reported below, without the value.
  }
  throw new CommandError(`The value for ${variable} is not text without NUL, which a variable requires`, EXIT.usage);
}

/**
 * Names that change which code programs load or run, in upper case. The table is that of sudo
 * (`initial_badenv_table` in `plugins/sudoers/env.c`), extended by newer runtimes, build
 * tools, pagers, editors, git and npm.
 */
const LOADER_VARIABLES = new Set(
  `BASHOPTS BASH_ENV BASH_LOADABLES_PATH BROWSER BUNDLE_GEMFILE BUN_OPTIONS CARGO_HOME CC CDPATH CLASSPATH
  COMSPEC CORECLR_PROFILER CORECLR_PROFILER_PATH COR_PROFILER COR_PROFILER_PATH CURL_HOME CXX DENO_DIR
  DOTNET_ADDITIONAL_DEPS DOTNET_STARTUP_HOOKS EDITOR ELIXIR_ERL_OPTIONS ENV ERL_AFLAGS ERL_FLAGS ERL_LIBS
  ERL_ZFLAGS EXINIT FCEDIT FPATH GCONV_PATH GEM_HOME GEM_PATH GETCONF_DIR GLIBC_TUNABLES GLOBIGNORE GNUMAKEFLAGS
  GOENV GOFLAGS HGRCPATH HOME HOSTALIASES IFS INPUTRC JAVA_HOME JAVA_TOOL_OPTIONS JDK_JAVAC_OPTIONS
  JDK_JAVA_OPTIONS JULIA_DEPOT_PATH JULIA_LOAD_PATH LESSCLOSE LESSOPEN LIBPATH LOCALDOMAIN LOCPATH MAKEFILES
  MAKEFLAGS MALLOC_TRACE MANPAGER NLSPATH NODE_OPTIONS NODE_PATH NODE_REPL_EXTERNAL_MODULE NULLCMD OPENSSL_CONF
  OPENSSL_ENGINES OPENSSL_MODULES PAGER PATH PATHEXT PERL5DB PERL5LIB PERL5OPT PERL5SHELL PERLIO_DEBUG PERLLIB
  PHPRC PHP_INI_SCAN_DIR PS0 PS1 PS2 PS4 PSMODULEPATH PSQLRC PYTEST_ADDOPTS PYTEST_PLUGINS READNULLCMD
  RES_OPTIONS RUBYLIB RUBYOPT RUBYSHELL RUSTC RUSTDOC RUSTFLAGS R_ENVIRON R_ENVIRON_USER R_PROFILE
  R_PROFILE_USER SHELL SHELLOPTS SHLIB_PATH SVN_SSH TCLLIBPATH TERMCAP TERMINFO TERMINFO_DIRS TMPDIR TZDIR
  VIMINIT VISUAL ZDOTDIR _JAVA_OPTIONS`.split(/\s+/),
);

const LOADER_PREFIXES = [
  'BASH_FUNC_',
  'CARGO_BUILD_',
  'CARGO_TARGET_',
  'DYLD_',
  'GIT_',
  'LD_',
  'LDR_',
  'LUA_',
  'NPM_CONFIG_',
  'PYTHON',
  'TRELLIS_SECRETS_',
  'XDG_',
  '_RLD',
];

/** Endings of names whose values programs run as commands, such as `RESTIC_PASSWORD_COMMAND`, or pass to a runtime. */
const LOADER_SUFFIX = /(?:_(?:ASKPASS|BROWSER|CMD|COMMAND|EDITOR|OPTS|PAGER|RSH|WRAPPER)|PASSCOMMAND)$/;

/**
 * Reports whether a variable of this name can make a program load or run other code. Case is ignored, as npm and
 * Windows accept both.
 */
export function isLoaderVariable(variable: string): boolean {
  const name = variable.toUpperCase();
  const hasPart = LOADER_SUFFIX.test(name) || LOADER_PREFIXES.some((prefix) => name.startsWith(prefix));
  return hasPart || LOADER_VARIABLES.has(name);
}
