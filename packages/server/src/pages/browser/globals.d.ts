/*
 * The parts of GraphiQL, React and Swagger UI that the scripts of these pages use. The pages load the libraries as
 * scripts, which declare globals, and the packages have no types of these builds.
 */

/** An editor of CodeMirror. */
interface Editor {
  setValue(text: string): void;
  addKeyMap(keys: Readonly<Record<string, boolean>>): void;
}

/** The editors of GraphiQL. Each is absent until it has been drawn. */
export interface Editors {
  readonly addTab: () => void;
  readonly queryEditor: Editor | null;
  readonly variableEditor: Editor | null;
  readonly headerEditor: Editor | null;
  readonly responseEditor: Editor | null;
}

/** What React can draw. */
type Node = { readonly type: unknown } | string | null | undefined | readonly Node[];

type Component<Properties> = (properties: Properties) => Node;

interface Plugin {
  readonly title: string;
  readonly icon: Component<object>;
  readonly content: Component<object>;
}

interface GraphiqlProperties {
  readonly fetcher: unknown;
  readonly defaultTabs: readonly { readonly query: string }[];
  readonly defaultTheme: string | undefined;
  readonly plugins: readonly Plugin[];
  readonly visiblePlugin: Plugin | undefined;
  readonly schema: null | undefined;
}

interface Example {
  readonly title: string;
  readonly about: string;
  readonly query: string;
  /** JSON. */
  readonly variables?: string;
}

declare global {
  var examples: readonly [Example, ...Example[]];

  const React: {
    createElement<Properties extends object>(
      type: Component<Properties> | string,
      properties: Properties | null,
      ...children: readonly Node[]
    ): Node;
    useEffect(effect: () => void): void;
    useRef<Value>(value: Value): { current: Value };
  };

  const ReactDOM: {
    createRoot(place: Element): { render(node: Node): void };
    flushSync(change: () => void): void;
  };

  const GraphiQL: Component<GraphiqlProperties> & {
    readonly Logo: Component<object>;
    readonly Footer: Component<object>;
    readonly React: { useEditorContext(options: { readonly nonNull: true }): Editors };
    createFetcher(options: { readonly url: string }): unknown;
  };

  const SwaggerUIBundle: {
    (options: Readonly<Record<string, unknown>>): void;
    readonly presets: { readonly apis: unknown };
  };
}
