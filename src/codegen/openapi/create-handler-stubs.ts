import type { Stub } from '../generator-output.js';
import type { Contract } from './contract.js';
import { camel, handlersName, kebab } from './names.js';

/** Writes a stub for each tag, with one handler per operation that throws until it is implemented. */
export function createHandlerStubs({ service, tags }: Contract): readonly Stub[] {
  return tags.map(({ name, operations }) => {
    const exportName = `${camel(name)}Handlers`;
    const type = handlersName(name);
    return {
      file: `src/handlers/${service}/${kebab(name)}.ts`,
      header: `import type { ${type} } from '../../generated/${service}/operations.js';\n\nexport const ${exportName} = (): ${type} => ({\n`,
      footer: '});\n',
      exportName,
      use: {
        file: `src/handlers/${service}/handlers.ts`,
        lines: [`import { ${exportName} } from './${kebab(name)}.js';`, `...${exportName}(),`],
      },
      members: operations.map(({ id }) => ({
        name: id,
        text: `async ${id}() {\n  throw new Error('${id} is not implemented yet.');\n},`,
      })),
    };
  });
}
