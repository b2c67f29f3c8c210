/*
 * The parts of GraphiQL, React and Swagger UI that the scripts of these pages use. The pages load the libraries as
 * scripts, which declare globals, and the packages have no types of these builds.
 */

/** An editor of CodeMirror. */
interface Editor {
  getValue(): string;
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

/** The text of a new tab of the explorer. */
export interface NewTab {
  readonly query: string;
  /** JSON. */
  readonly variables?: string;
}

/** The request in the editors of the explorer. */
export interface ExplorerRequest {
  /** The address of the endpoint. */
  readonly url: string;
  readonly query: string;
  /** JSON. */
  readonly variables: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
}

/** The buttons of GraphiQL's toolbar. */
interface ToolbarButtons {
  readonly prettify: Node;
  readonly merge: Node;
  readonly copy: Node;
}

interface Plugin {
  readonly title: string;
  readonly icon: Component<object>;
  readonly content: Component<object>;
}

/** A request of the editors of GraphiQL. */
export interface EditedRequest {
  readonly query: string;
  readonly operationName?: string | null;
  readonly variables?: unknown;
}

/** Sends a request, with options such as headers. */
type Fetcher = (request: EditedRequest, options: unknown) => unknown;

interface GraphiqlProperties {
  readonly fetcher: Fetcher;
  readonly defaultTabs: readonly { readonly query: string }[];
  readonly defaultTheme: string | undefined;
  readonly plugins: readonly Plugin[];
  readonly onTogglePluginVisibility: (plugin: Plugin | null) => void;
  readonly schema: null | undefined;
}

/** The generated client of a contract: the name of its factory, and the modules of the factory and of the calls. */
export interface ContractClient {
  readonly create: string;
  readonly from: string;
  readonly calls: string;
}

export interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly example?: unknown;
  readonly examples?: readonly unknown[];
  readonly default?: unknown;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly minItems?: number;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, JsonSchema | Reference>>;
  readonly additionalProperties?: unknown;
  readonly items?: JsonSchema | Reference;
  readonly oneOf?: readonly (JsonSchema | Reference)[];
  readonly anyOf?: readonly (JsonSchema | Reference)[];
  readonly allOf?: readonly (JsonSchema | Reference)[];
}

interface Reference {
  readonly $ref: string;
}

interface Media {
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
  readonly schema?: JsonSchema | Reference;
}

interface ContractParameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly example?: unknown;
  readonly schema?: JsonSchema | Reference;
}

export interface ContractOperation {
  readonly operationId?: string;
  readonly summary?: string;
  readonly tags?: readonly string[];
  readonly parameters?: readonly (ContractParameter | Reference)[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> } | Reference;
  readonly responses?: Readonly<Record<string, { readonly content?: Readonly<Record<string, unknown>> } | Reference>>;
  readonly security?: readonly Readonly<Record<string, unknown>>[];
}

/** The parts of an OpenAPI document that the reference reads. */
export interface ReferenceContract {
  readonly servers?: readonly { readonly url: string }[];
  readonly security?: readonly Readonly<Record<string, unknown>>[];
  readonly paths: Readonly<Record<string, PathItem>>;
}

type PathItem = Readonly<Record<string, ContractOperation | undefined>> & {
  readonly parameters?: readonly (ContractParameter | Reference)[] & ContractOperation;
};

interface Example {
  readonly title: string;
  readonly about: string;
  readonly query: string;
  /** JSON. */
  readonly variables?: string;
}

declare global {
  var examples: readonly [Example, ...Example[]];
  var operationExamples: {
    readonly toCommand: (origin: string, contract: ReferenceContract, path: string, method: string) => string;
    readonly toClientCall: (
      origin: string,
      client: ContractClient,
      contract: ReferenceContract,
      path: string,
      method: string,
    ) => string;
  };

  const React: {
    readonly Fragment: Component<object>;
    createElement<Properties extends object>(
      type: Component<Properties> | string,
      properties: Properties | null,
      ...children: readonly Node[]
    ): Node;
    createElement(
      type: Component<{ readonly children: (buttons: ToolbarButtons) => Node }>,
      properties: null,
      children: (buttons: ToolbarButtons) => Node,
    ): Node;
    useEffect(effect: () => (() => void) | undefined, inputs?: readonly unknown[]): void;
    useLayoutEffect(effect: () => (() => void) | undefined, inputs?: readonly unknown[]): void;
    useState<Value>(value: Value): [value: Value, set: (value: Value) => void];
    useRef<Value>(value: Value): { current: Value };
  };

  const ReactDOM: {
    createRoot(place: Element): { render(node: Node): void };
    flushSync(change: () => void): void;
  };

  const GraphiQL: Component<GraphiqlProperties> & {
    readonly Logo: Component<object>;
    readonly Footer: Component<object>;
    readonly Toolbar: Component<{ readonly children: (buttons: ToolbarButtons) => Node }>;
    readonly React: {
      useEditorContext(options: { readonly nonNull: true }): Editors;
      readonly ToolbarMenu: Component<{ readonly label: string; readonly button: Node }> & {
        readonly Item: Component<{ readonly key: string; readonly onSelect: () => void }>;
      };
    };
    createFetcher(options: { readonly url: string }): Fetcher;
  };

  const SwaggerUIBundle: {
    (options: Readonly<Record<string, unknown>>): void;
    readonly presets: { readonly apis: unknown };
  };
}
