/** A placeholder in a request for a value of an earlier response. */
export class SeenValue {
  readonly tag: string;
  readonly name: string;
  readonly pick: number;
  /** The value used until a response has had one. */
  readonly otherwise: unknown;

  constructor({ tag, name, pick, otherwise }: Pick<SeenValue, 'name' | 'otherwise' | 'pick' | 'tag'>) {
    this.tag = tag;
    this.name = name;
    this.pick = pick;
    this.otherwise = otherwise;
  }
}

/** The values of responses, by the OpenAPI tag of the operation and the name of the property. */
export interface SeenValues {
  /** Records all names and values of a JSON response. */
  learn(tag: string, text: string): void;
  /** Adds a value explicitly. */
  add(tag: string, name: string, value: unknown): void;
  /** Replaces every {@link SeenValue} inside a value. */
  resolve(value: unknown): unknown;
}

/** Enough values to reach many resources, and few enough that most of these still exist. */
const MAX_VALUES = 60;

/** Limits the values per response, because a board repeats the same names. */
const MAX_NODES = 300;

/** Parameters whose property in responses has a different name. */
const ALIASES: Readonly<Record<string, string>> = {
  owner: 'username',
  view: 'name',
  fullName: 'repo',
  tag: 'tags',
  q: 'name',
  object_id: 'id',
  consumer: 'name',
  after: 'id',
  'if-match': 'etag',
};

const FEED_URL = /\/api\/feeds\/([^/]+)\//;

export function createSeenValues(): SeenValues {
  const values = new Map<string, unknown[]>();

  function add(tag: string, name: string, value: unknown): void {
    for (const key of [`${tag} ${name}`, name]) {
      const list = values.get(key) ?? [];
      values.set(key, list);
      if (list.includes(value)) continue;
      list.push(value);
      if (list.length > MAX_VALUES) list.shift();
    }
  }

  /** The three values that identify a pull request. */
  function learnReferences(value: object): void {
    const { forge, repo: fullName, number } = value as Record<string, unknown>;
    if (forge === undefined || fullName === undefined || number === undefined) return;
    add('Board', 'pullRequestReference', { forge, fullName, number });
    add('Board', 'repositoryReference', { forge, fullName });
  }

  function find({ tag, name, pick, otherwise }: SeenValue): unknown {
    const alias = ALIASES[name.toLowerCase()] ?? name;
    const list = values.get(`${tag} ${name}`) ?? values.get(`${tag} ${alias}`) ?? values.get(name) ?? values.get(alias);
    return list === undefined ? otherwise : list[pick % list.length];
  }

  function resolve(value: unknown): unknown {
    if (value instanceof SeenValue) return resolve(find(value));
    if (Array.isArray(value)) return value.map(resolve);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, resolve(inner)]));
  }

  return {
    add,
    resolve,
    learn(tag, text) {
      if (!/^[[{]/.test(text)) return;
      let nodes = 0;
      const walk = (name: string, value: unknown): void => {
        if ((nodes += 1) > MAX_NODES) return;
        if (typeof value === 'object' && value !== null) {
          learnReferences(value);
          for (const [key, inner] of Object.entries(value)) walk(Array.isArray(value) ? name : key, inner);
        } else if (typeof value === 'string' || typeof value === 'number') {
          add(tag, name, value);
          const token = typeof value === 'string' ? FEED_URL.exec(value)?.[1] : undefined;
          if (token !== undefined) add(tag, 'feedToken', token);
        }
      };
      walk('', JSON.parse(text));
    },
  };
}
