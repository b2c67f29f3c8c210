import { ask, closeGarden, idsOf } from './garden.js';

afterAll(closeGarden);

const ALL = ['p0', 'p1', 'p2', 'p3', 'p4'];

describe('filter of plugins', () => {
  test.each([
    ['eq is strict', 'version: {eq: "1"}', ['p0']],
    ['eq is case-sensitive', 'name: {eq: "b"}', []],
    ['eq with a value does not match null or missing values', 'packageJson: {main: {eq: "m"}}', ['p1']],
    ['eq null matches a stored null', 'name: {eq: null}', ['p2']],
    ['eq null matches where an object on the path is missing', 'packageJson: {main: {eq: null}}', ['p0', 'p2']],
    ['eq null does not match an empty list', 'nodeAPIs: {eq: null}', ['p2', 'p3']],
    ['ne matches other values, null and missing values', 'name: {ne: "a"}', ['p1', 'p2', 'p3', 'p4']],
    ['ne matches where an object on the path is missing', 'packageJson: {name: {ne: "a"}}', ['p1', 'p2', 'p4']],
    ['ne null matches every value', 'name: {ne: null}', ['p0', 'p1', 'p3', 'p4']],
    ['ne is the opposite of eq on a list, including an empty list', 'nodeAPIs: {ne: "y"}', ['p1', 'p2', 'p3']],
    ['in matches any of its values', 'name: {in: ["a", "B"]}', ['p0', 'p1']],
    ['in with an empty list matches nothing', 'name: {in: []}', []],
    ['in accepts a single value as a list', 'name: {in: "a"}', ['p0']],
    ['in matches null only if null is listed', 'name: {in: ["a", null]}', ['p0', 'p2']],
    ['in does not match an empty list', 'nodeAPIs: {in: [null, "x"]}', ['p0', 'p2', 'p3']],
    ['nin with an empty list matches everything', 'name: {nin: []}', ALL],
    ['nin matches null unless null is listed', 'name: {nin: ["a"]}', ['p1', 'p2', 'p3', 'p4']],
    ['nin with null listed does not match missing values', 'packageJson: {main: {nin: [null, "m"]}}', ['p3', 'p4']],
    ['nin matches an empty list', 'nodeAPIs: {nin: ["x", null]}', ['p1', 'p4']],
    ['regex does not match null', 'name: {regex: "/.*/"}', ['p0', 'p1', 'p3', 'p4']],
    ['regex does not convert null to text', 'name: {regex: "/null/"}', []],
    ['glob does not match null', 'name: {glob: "*"}', ['p0', 'p1', 'p3', 'p4']],
    ['a list matches if any of its elements does', 'nodeAPIs: {eq: "y"}', ['p0', 'p4']],
    ['a record appears once, however many elements match', 'nodeAPIs: {regex: "/x|y/"}', ['p0', 'p4']],
    ['several operators on one field must all match', 'name: {regex: "/^a/", ne: "a"}', ['p3', 'p4']],
    ['several fields must all match', 'name: {regex: "/^a/"}, version: {eq: "9"}', ['p4']],
    ['several fields of a nested object must all match', 'packageJson: {name: {eq: "a"}, main: {eq: "n"}}', ['p3']],
    [
      'elemMatch requires one element to match all conditions',
      'packageJson: {dependencies: {elemMatch: {name: {eq: "d2"}, version: {eq: "1"}}}}',
      ['p3'],
    ],
    [
      'elemMatch with eq null does not match a missing or empty list',
      'packageJson: {dependencies: {elemMatch: {name: {eq: null}}}}',
      [],
    ],
    [
      'elemMatch with a value does not match a missing list',
      'packageJson: {dependencies: {elemMatch: {name: {eq: "d1"}}}}',
      ['p0', 'p3'],
    ],
    ['an empty elemMatch has no effect', 'packageJson: {dependencies: {elemMatch: {}}}', ALL],
    ['booleans are compared with eq', 'pluginOptions: {pathCheck: {eq: false}}', ['p1']],
    [
      'booleans are compared with in, including null',
      'pluginOptions: {pathCheck: {in: [true, null]}}',
      ['p0', 'p2', 'p3', 'p4'],
    ],
    ['or matches if one of its filters does', 'or: [{name: {eq: "a"}}, {version: {eq: null}}]', ['p0', 'p1']],
    ['not matches if its filter does not', 'not: {name: {regex: "/a/"}}', ['p1', 'p2']],
    ['an empty filter has no effect', '', ALL],
    ['a field without an operator has no effect', 'name: {}', ALL],
    ['a null field has no effect', 'name: null', ALL],
    ['a null object has no effect', 'packageJson: null', ALL],
    ['elemMatch does not match a record without children', 'children: {elemMatch: {id: {eq: null}}}', []],
    ['a missing parent counts as a missing value', 'parent: {id: {eq: null}}', ALL],
  ])('%s', async (_statement, filter, expected) => {
    expect(await idsOf(`SitePlugin(filter: {${filter}})`)).toEqual(expected);
  });

  test('a null filter has no effect', async () => {
    expect(await idsOf('SitePlugin(filter: null)')).toEqual(ALL);
  });

  test('an operator with an unset variable has no effect', async () => {
    const { all } = await ask(
      'query ($value: String) { all: allSitePlugin(filter: {name: {eq: $value}}) { totalCount } }',
    );
    expect(all).toEqual({ totalCount: 5 });
  });

  test('an operator with a null variable compares with null', async () => {
    expect(await idsOf('SitePlugin(filter: {name: {eq: $value}})', { value: null })).toEqual(['p2']);
  });

  test('results are in creation order, regardless of the filter', async () => {
    expect(await idsOf('SitePlugin(filter: {version: {in: ["9", "1", "10"]}})')).toEqual(['p0', 'p3', 'p4']);
  });
});

describe('filter of files', () => {
  test.each([
    ['numbers are compared as numbers', 'size: {gt: 3, lte: 100}', ['f1', 'f3', 'f4']],
    ['gt, gte, lt and lte do not match a missing value', 'blocks: {lt: 10}', ['f0', 'f4']],
    ['gt null matches nothing', 'blocks: {gt: null}', []],
    ['lt null matches nothing', 'blocks: {lt: null}', []],
    ['gte null matches missing values', 'blocks: {gte: null}', ['f1', 'f3']],
    ['lte null matches missing values', 'blocks: {lte: null}', ['f1', 'f3']],
    ['dates are compared as text, so a year works as a bound', 'mtime: {gte: "2020"}', ['f2', 'f3', 'f4']],
    ['lte with a day excludes that day', 'mtime: {lte: "2016-02-29"}', ['f0']],
    ['a different notation of the same time is not equal', 'mtime: {eq: "2020-01-01T00:00:00.000+00:00"}', []],
    ['an invalid date is accepted', 'mtime: {gt: "junk"}', []],
    ['children are filtered by elemMatch', 'children: {elemMatch: {internal: {type: {eq: "ImageProc"}}}}', ['f1']],
    [
      'the image of a file can be filtered by all of its fields',
      'childImageProc: {internal: {contentDigest: {eq: "c"}}}',
      ['f1'],
    ],
    ['the fields of a missing image count as missing', 'childImageProc: {id: {eq: null}}', ['f0', 'f2', 'f3', 'f4']],
  ])('%s', async (_statement, filter, expected) => {
    expect(await idsOf(`File(filter: {${filter}})`)).toEqual(expected);
  });

  test('a linked record can be filtered by all of its fields', async () => {
    expect(await idsOf('SitePage(filter: {pluginCreator: {nodeAPIs: {eq: "x"}}})')).toEqual(['s0']);
  });

  test('a parent can be filtered only by the fields of Node', async () => {
    expect(
      await idsOf('ImageProc(filter: {parent: {id: {eq: "f1"}, children: {elemMatch: {id: {eq: "i1"}}}}})'),
    ).toEqual(['i1']);
    await expect(idsOf('ImageProc(filter: {parent: {name: {eq: "two"}}})')).rejects.toThrow('"name" is not defined');
  });
});

describe('query for one record', () => {
  test.each([
    ['accepts an argument for each field', 'sitePlugin(name: {eq: "B"})', 'p1'],
    ['requires all of several arguments to match', 'sitePlugin(name: {regex: "/a/"}, version: {eq: "9"})', 'p4'],
    ['accepts nested arguments', 'sitePlugin(packageJson: {main: {eq: "n"}})', 'p3'],
    ['is the first match in creation order', 'sitePlugin(version: {ne: null})', 'p0'],
    ['is the first record without an argument', 'sitePlugin', 'p0'],
    ['is the first record when every argument is null', 'sitePlugin(name: null)', 'p0'],
    ['is null when none matches', 'sitePlugin(name: {eq: "z"})', undefined],
  ])('%s', async (_statement, query, id) => {
    const { one } = await ask(`{ one: ${query} { id } }`);
    expect((one as { id: string } | null)?.id).toBe(id);
  });
});

describe('invalid filter', () => {
  test.each([
    ['rejects a null regex', 'name: {regex: null}', 'Expected text for regex'],
    ['rejects a null glob', 'name: {glob: null}', 'Expected text for glob'],
    ['rejects a regex without slashes', 'name: {regex: "an"}', 'received the flags'],
    ['rejects a regex with only a leading slash', 'name: {regex: "/an"}', 'received the flags'],
    ['rejects a malformed regex', 'name: {regex: "/(/"}', 'Unterminated group'],
    ['rejects a number for text', 'name: {eq: 1}', 'String cannot represent a non string value: 1'],
    ['rejects an unknown operator', 'name: {like: "a"}', 'Field "like" is not defined'],
    ['rejects an unknown field and suggests a name', 'nam: {eq: "a"}', 'Did you mean "name"'],
    ['rejects a duplicate operator', 'name: {eq: "a", eq: "b"}', 'There can be only one input field named "eq"'],
    ['rejects gt for text', 'name: {gt: "a"}', 'Field "gt" is not defined'],
    [
      'rejects fields of list elements without elemMatch',
      'packageJson: {dependencies: {name: {eq: "d1"}}}',
      'is not defined',
    ],
  ])('%s', async (_statement, filter, message) => {
    await expect(idsOf(`SitePlugin(filter: {${filter}})`)).rejects.toThrow(message);
  });

  test.each([
    ['rejects text for a number', 'size: {eq: "2"}', 'Expected a whole number; received "2"'],
    ['rejects a fraction for a whole number', 'size: {eq: 2.5}', 'Expected a whole number; received 2.5'],
    ['rejects a number beyond 53 bits', 'size: {eq: 9007199254740992}', 'Expected a whole number'],
    ['rejects a number for a date', 'mtime: {gt: 2019}', 'Expected a date as text'],
    ['rejects regex for a date', 'mtime: {regex: "/2/"}', 'Field "regex" is not defined'],
  ])('%s', async (_statement, filter, message) => {
    await expect(idsOf(`File(filter: {${filter}})`)).rejects.toThrow(message);
  });
});
