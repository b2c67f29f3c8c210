/**
 * Names that change which code programs load or run, in upper case. The table is that of sudo
 * (`initial_badenv_table` in `plugins/sudoers/env.c`), extended by newer runtimes, git and npm.
 */
const LOADER_VARIABLES = new Set(
  `BASH_ENV BASHOPTS BUN_OPTIONS CDPATH CLASSPATH CORECLR_PROFILER CORECLR_PROFILER_PATH DENO_DIR DOTNET_ADDITIONAL_DEPS
  DOTNET_STARTUP_HOOKS EDITOR ENV FPATH GCONV_PATH GETCONF_DIR GLOBIGNORE HOME HOSTALIASES IFS JAVA_TOOL_OPTIONS
  JDK_JAVA_OPTIONS LESSOPEN LIBPATH LOCALDOMAIN LOCPATH MALLOC_TRACE MANPAGER NLSPATH NODE_OPTIONS NODE_PATH
  NODE_REPL_EXTERNAL_MODULE NULLCMD OPENSSL_CONF OPENSSL_ENGINES OPENSSL_MODULES PAGER PATH PATHEXT COMSPEC PERL5DB
  PERL5LIB PERL5OPT PERLIO_DEBUG PERLLIB PHPRC PHP_INI_SCAN_DIR PROMPT_COMMAND PS4 READNULLCMD RES_OPTIONS RUBYLIB
  RUBYOPT SHELL SHELLOPTS SHLIB_PATH TERMCAP TERMINFO TERMINFO_DIRS TMPDIR TZDIR VISUAL ZDOTDIR _JAVA_OPTIONS`.split(
    /\s+/,
  ),
);

const LOADER_PREFIXES = ['BASH_FUNC_', 'DYLD_', 'GIT_', 'LD_', 'LDR_', 'NPM_CONFIG_', 'PYTHON', 'XDG_', '_RLD'];

/**
 * Reports whether a variable of this name can make a program load or run other code. Case is ignored, as npm and
 * Windows accept both.
 */
export function isLoaderVariable(variable: string): boolean {
  const name = variable.toUpperCase();
  return LOADER_VARIABLES.has(name) || LOADER_PREFIXES.some((prefix) => name.startsWith(prefix));
}
