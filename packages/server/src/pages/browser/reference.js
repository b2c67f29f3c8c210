/** @import { ReferenceContract, ContractClient } from './globals.d.ts' */

/** Returns the theme selected in the settings of this browser; `null` if it blocks storage. */
function readTheme() {
  try {
    return localStorage.getItem(document.documentElement.dataset.themeKey ?? '');
  } catch {
    return null;
  }
}

/** Applies the theme selected in the settings of this browser, or else follows the system theme. */
function followTheme() {
  const chosen = readTheme();
  const system = matchMedia('(prefers-color-scheme: dark)');
  const show = () => {
    const isDark = chosen ? chosen === 'dark' : system.matches;
    document.documentElement.classList.toggle('dark-mode', isDark);
    document.documentElement.classList.toggle('light-mode', !isDark);
  };
  system.addEventListener('change', show);
  show();
}

followTheme();

/**
 * Attributes that Swagger UI's elements lack, by selector.
 *
 * @type {readonly (readonly [selector: string, attributes: Readonly<Record<string, string>>])[]}
 */
const ATTRIBUTES = [
  ['.information-container', { role: 'region', 'aria-label': 'About the contract' }],
  ['.scheme-container', { role: 'region', 'aria-label': 'Server and authorization' }],
  ['section.models', { 'aria-label': 'Schemas' }],
  // The page already has a heading of level 1.
  ['h1.title', { 'aria-level': '2' }],
  ['.auth-container h6', { 'aria-level': '5' }],
  ['#servers', { 'aria-label': 'Server' }],
  ['.highlight-code pre, pre.microlight', { tabindex: '0' }],
  ['.body-param__text', { 'aria-label': 'Request body' }],
  ['.examples-select-element', { 'aria-label': 'Example' }],
  ['.filter.wrapper', { role: 'search', 'aria-label': 'Operations' }],
  ['.operation-filter-input', { 'aria-label': 'Filter by tag' }],
  // All of them are beside words.
  ['svg:not([aria-label], [role])', { 'aria-hidden': 'true' }],
  ['.close-modal', { 'aria-label': 'Close' }],
  // An accessible name has to begin with the visible label.
  ['.auth-btn-wrapper [aria-label="Apply credentials"]', { 'aria-label': 'Authorize: apply credentials' }],
  ['.auth-btn-wrapper [aria-label="Remove authorization"]', { 'aria-label': 'Logout: remove authorization' }],
  ['.auth-container input[type=text]', { autocomplete: 'off', spellcheck: 'false' }],
];

/** Links inside buttons that do the same as the button: duplicates for keyboard and screen reader users. */
const DUPLICATE_LINKS = '.opblock-summary-control a[href]';

/** @param {Element} reference */
function addMissingAttributes(reference) {
  for (const [selector, attributes] of ATTRIBUTES) {
    for (const element of reference.querySelectorAll(selector)) {
      for (const [name, value] of Object.entries(attributes)) {
        if (element.getAttribute(name) !== value) element.setAttribute(name, value);
      }
    }
  }
  for (const link of reference.querySelectorAll(DUPLICATE_LINKS)) link.removeAttribute('href');
  for (const field of reference.querySelectorAll(
    'tr[data-param-name] :is(input, select, textarea):not([aria-label])',
  )) {
    field.setAttribute('aria-label', field.closest('tr')?.dataset.paramName ?? '');
  }
  for (const table of reference.querySelectorAll('.responses-table[role=region]:not([aria-label])')) {
    table.setAttribute('aria-label', `Responses: ${table.id}`);
  }
}

const reference = document.getElementById('reference');
if (reference === null) throw new Error('The page has no element for the reference.');
new MutationObserver(() => addMissingAttributes(reference)).observe(reference, {
  childList: true,
  subtree: true,
  attributeFilter: ['aria-label', 'href'],
});

/**
 * The contracts of the running services.
 *
 * @type {readonly { readonly id: string; readonly name: string; readonly url: string; readonly client?: ContractClient }[]}
 */
const contracts = JSON.parse(document.body.dataset.contracts ?? '[]');
const requested = new URLSearchParams(location.search).get('contract');
const shown = contracts.find(({ id }) => id === requested) ?? contracts[0];

const links = contracts.map(({ id, name }) => {
  const link = document.createElement('a');
  link.href = `/docs?contract=${id}`;
  link.textContent = name;
  if (id === shown?.id) link.ariaCurrent = 'page';
  return link;
});
document.getElementById('contracts')?.append(...links);

/** @typedef {{ required?: boolean, example?: unknown, examples?: unknown, schema?: Record<string, unknown> }} Parameter */

/**
 * Removes the examples of optional parameters from a contract: "Try it out" would send them as values.
 *
 * @param {string} text
 */
function withoutOptionalExamples(text) {
  return JSON.stringify(
    JSON.parse(text, (key, value) => {
      if (key !== 'parameters' || typeof value !== 'object') return value;
      for (const parameter of /** @type {Parameter[]} */ (Object.values(value))) {
        if (parameter.required) continue;
        delete parameter.example;
        delete parameter.examples;
        delete parameter.schema?.example;
        delete parameter.schema?.examples;
      }
      return value;
    }),
  );
}

/**
 * Lists the operations of a contract by tag, to read while Swagger UI loads, which is much larger.
 *
 * @param {ReferenceContract} contract
 */
function drawOutline({ paths }) {
  /** @type {Map<string, HTMLUListElement>} */
  const lists = new Map();
  const outline = document.createElement('main');
  outline.className = 'outline';
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const { summary = '', tags: [tag = ''] = [] } = operation ?? {};
      if (tag === '') continue;
      const list = lists.get(tag) ?? document.createElement('ul');
      if (!lists.has(tag)) {
        const heading = document.createElement('h2');
        heading.textContent = tag;
        outline.append(heading, list);
        lists.set(tag, list);
      }
      const code = document.createElement('code');
      code.textContent = `${method.toUpperCase()} ${path}`;
      const item = document.createElement('li');
      item.append(code, ` ${summary}`);
      list.append(item);
    }
  }
  reference?.replaceChildren(outline);
}

/** @param {string} url */
const loadScript = (url) =>
  new Promise((resolve, reject) => {
    const script = document.createElement('script');
    script.src = url;
    script.addEventListener('load', resolve);
    script.addEventListener('error', reject);
    document.head.append(script);
  });

/** The frames until something that was drawn is visible. */
const nextPaint = () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));

/**
 * Draws examples of an operation in a shell and in TypeScript, above its responses. A plugin of Swagger UI.
 *
 * @param {ReferenceContract} contract
 * @param {ContractClient | undefined} client
 */
const withExamples = (contract, client) => () => ({
  wrapComponents: {
    /**
     * @param {unknown} Responses
     * @param {{ readonly React: typeof React }} system
     */
    responses(Responses, { React: { createElement: element, Fragment, useState } }) {
      /** @param {{ readonly name: string, readonly text: string }} properties */
      function CallExample({ name, text }) {
        const [said, say] = useState('');
        const copy = () =>
          navigator.clipboard.writeText(text).then(
            () => say('Copied.'),
            () => say('The browser does not allow copying here.'),
          );
        return element(
          'figure',
          { className: 'call-example' },
          element(
            'figcaption',
            null,
            element('strong', null, name),
            element('span', { role: 'status' }, said),
            element('button', { type: 'button', 'aria-label': `Copy the ${name} example`, onClick: copy }, 'Copy'),
          ),
          element(
            'pre',
            { tabIndex: 0, role: 'region', 'aria-label': `Example in ${name}` },
            element('code', null, text),
          ),
        );
      }
      /** @param {{ readonly path: string, readonly method: string }} properties */
      return function ExamplesAndResponses(properties) {
        const { path, method } = properties;
        const { toCommand, toClientCall } = operationExamples;
        const call = client && toClientCall(location.origin, client, contract, path, method);
        return element(
          Fragment,
          null,
          element('div', { className: 'opblock-section-header' }, element('h4', null, 'Examples')),
          element(
            'div',
            { className: 'call-examples' },
            element(CallExample, { name: 'curl', text: toCommand(location.origin, contract, path, method) }),
            call ? element(CallExample, { name: 'TypeScript', text: call }) : null,
          ),
          element(/** @type {any} */ (Responses), properties),
        );
      };
    },
  },
});

/** Draws the contract in Swagger UI, which takes the place of the outline. */
async function start() {
  if (reference === null) return;
  if (shown === undefined) {
    reference.textContent = 'None of the services of this server has an API reference.';
    return;
  }
  /** @type {ReferenceContract} */
  let contract;
  try {
    const response = await fetch(shown.url);
    if (!response.ok) throw new Error(`The contract has the status ${response.status}.`);
    contract = await response.json();
    drawOutline(contract);
    await nextPaint();
    await loadScript(reference.dataset.script ?? '');
  } catch {
    const problem = document.createElement('p');
    problem.role = 'alert';
    problem.textContent = 'The reference could not be loaded. Reload the page to try again.';
    const main = reference.querySelector('main') ?? reference;
    // The outline stays, as it is drawn; the message takes the place of “Loading …”.
    if (!main.classList.contains('outline')) main.textContent = '';
    main.prepend(problem);
    return;
  }
  SwaggerUIBundle({
    dom_id: '#reference',
    url: shown.url,
    presets: [SwaggerUIBundle.presets.apis],
    plugins: [withExamples(contract, shown.client)],
    layout: 'BaseLayout',
    deepLinking: true,
    // The default would send the contract to an external validator.
    validatorUrl: null,
    docExpansion: 'list',
    defaultModelsExpandDepth: 0,
    persistAuthorization: false,
    filter: true,
    /** @param {{ readonly url: string, text: string }} response */
    responseInterceptor(response) {
      if (new URL(response.url, location.origin).pathname === shown.url) {
        response.text = withoutOptionalExamples(response.text);
      }
      return response;
    },
  });
}

/** Focuses the filter of operations, as on the lists of the product. */
document.addEventListener('keydown', (event) => {
  const isTyping = event.target instanceof Element && event.target.closest('input, textarea, select') !== null;
  if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || isTyping) return;
  const filter = document.querySelector('.operation-filter-input');
  if (!(filter instanceof HTMLElement)) return;
  event.preventDefault();
  filter.focus();
});

void start();
