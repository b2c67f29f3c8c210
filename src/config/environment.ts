import { CONFIG_OPTIONS } from './options.js';
import { StartupError } from './startup-error.js';

/** Returns the environment unchanged, for commands with options of their own and for the processes that they start. */
export const readEnvironment = (): Readonly<Record<string, string | undefined>> => process.env;

/** Variables of clients, and of the commands that are clients, which read them themselves. */
const CLIENT_VARIABLES = /^TRELLIS_(SECRETS_[A-Z_]+|TOKEN|URL)$/;

/** Variables that Kubernetes sets for every service in the namespace, such as one that is called "trellis". */
const KUBERNETES_VARIABLES = /_(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT(_\d+_(TCP|UDP|SCTP)(_(ADDR|PORT|PROTO))?)?)$/;

/** More differences than these are not a slip. */
const MAX_DISTANCE = 2;

/**
 * Finds misspelt variables, which would have no effect: those that begin with `TRELLIS_` and are unknown, and those that
 * are almost the name of an option.
 */
export function findUnknownVariables(env: NodeJS.ProcessEnv): StartupError[] {
  const known = Object.values(CONFIG_OPTIONS)
    .map((option) => option.env)
    .filter((name) => name.startsWith('TRELLIS_'));
  return Object.keys(env).flatMap((name) => {
    if (!/^T\w+_/.test(name) || !env[name] || known.includes(name)) return [];
    if (CLIENT_VARIABLES.test(name) || KUBERNETES_VARIABLES.test(name)) return [];
    const [nearest] = known
      .map((candidate) => ({ candidate, distance: countEdits(name, candidate) }))
      .filter(({ distance }) => distance <= MAX_DISTANCE)
      .sort((one, other) => one.distance - other.distance);
    if (nearest !== undefined) {
      return [new StartupError(`${name}: unknown variable; did you mean ${nearest.candidate}?`)];
    }
    if (!name.startsWith('TRELLIS_')) return [];
    return [new StartupError(`${name}: unknown variable; "trellis serve --help" lists the variables`)];
  });
}

/** Returns the Levenshtein distance: the number of insertions, deletions and replacements. */
function countEdits(one: string, other: string): number {
  let previous = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [row, character] of one.split('').entries()) {
    const current = [row + 1];
    for (let column = 1; column <= other.length; column += 1) {
      const replaced = (previous[column - 1] ?? 0) + (other[column - 1] === character ? 0 : 1);
      current.push(Math.min(replaced, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous.at(-1) ?? 0;
}
