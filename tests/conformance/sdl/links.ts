import { ask } from '../ask.js';
import type { Row } from '../row.js';

const section = 'Links';

const BLOG = {
  'people.json':
    '[{"slug": "ada", "email": "ada@example.org"}, {"slug": "bob", "email": "bob@example.org"}, {"slug": "cy", "email": "cy@example.org"}]',
  'posts/1.md': '---\ntitle: One\nauthor: ada\ntags: [sea, boats]\nmail: bob@example.org\n---\n',
  'posts/2.md': '---\ntitle: Two\nauthor: bob\ntags: [boats]\nreviewers: [ada, bob, ada]\n---\n',
  'posts/3.md': '---\ntitle: Three\nauthor: ada\nreviewers: [cy]\n---\n',
  'tags.json': '[{"name": "sea"}, {"name": "boats"}, {"name": "land"}]',
};

const person = (fields: string): string =>
  `type Person implements Node @record @source(glob: "people.json") { slug: String! email: String! ${fields} }`;

const POST = `type Post implements Node @record @source(glob: "posts/*.md") {
  title: String! author: Person @link(to: "slug") reviewers: [Person!]! @link(to: "slug") tags: [String!]! mail: String
}`;

const BY_AUTHOR = [
  { slug: 'ada', posts: [{ title: 'One' }, { title: 'Three' }] },
  { slug: 'bob', posts: [{ title: 'Two' }] },
  { slug: 'cy', posts: [] },
];

const errorRow = (feature: string, fields: string, error: string): Row => ({
  section,
  feature,
  outcome: 'refused',
  contract: `${POST}\n${person('')}\nextend type Person { ${fields} }`,
  errors: [`5:${error}`],
});

export const rows: readonly Row[] = [
  {
    section,
    feature: '@link(to:): one record and a list',
    outcome: 'supported',
    contract: `${POST} ${person('')}`,
    files: BLOG,
    exchanges: [
      ask('{ allPost { nodes { author { slug } reviewers { slug } } } }', {
        allPost: {
          nodes: [
            { author: { slug: 'ada' }, reviewers: [] },
            { author: { slug: 'bob' }, reviewers: [{ slug: 'ada' }, { slug: 'bob' }] },
            { author: { slug: 'ada' }, reviewers: [{ slug: 'cy' }] },
          ],
        },
      }),
      ask('{ allPost(filter: {author: {slug: {eq: "ada"}}}) { totalCount } }', { allPost: { totalCount: 2 } }),
    ],
  },
  {
    section,
    feature: '@link(by:): the records that link to this one',
    note: 'The records of a page are read in one statement.',
    outcome: 'supported',
    contract: `${POST} ${person('posts: [Post!]! @link(by: "author")')}`,
    files: BLOG,
    exchanges: [
      ask('{ allPerson { nodes { slug posts { title } } } }', { allPerson: { nodes: BY_AUTHOR } }),
      ask('{ allPerson { nodes { posts { author { posts { title } } } } } }', {
        allPerson: {
          nodes: [
            { posts: [{ author: { posts: [{ title: 'One' }, { title: 'Three' }] } }, { author: {} }] },
            { posts: [{ author: { posts: [{ title: 'Two' }] } }] },
            { posts: [] },
          ],
        },
      }),
    ],
  },
  {
    section,
    feature: '@link(by:) in filters, sorts and groups',
    outcome: 'supported',
    contract: `${POST} ${person('posts: [Post!]! @link(by: "author")')}`,
    files: BLOG,
    exchanges: [
      ask('{ allPerson(filter: {posts: {elemMatch: {title: {eq: "Three"}}}}) { nodes { slug } } }', {
        allPerson: { nodes: [{ slug: 'ada' }] },
      }),
      ask(
        '{ allPerson { distinct(field: posts___title) group(field: posts___title) { fieldValue nodes { slug } } } }',
        {
          allPerson: {
            distinct: ['One', 'Three', 'Two'],
            group: [
              { fieldValue: 'One', nodes: [{ slug: 'ada' }] },
              { fieldValue: 'Three', nodes: [{ slug: 'ada' }] },
              { fieldValue: 'Two', nodes: [{ slug: 'bob' }] },
            ],
          },
        },
      ),
      ask('{ allPerson(sort: {fields: [posts___title], order: [DESC]}) { nodes { slug } } }', {
        allPerson: { nodes: [{ slug: 'bob' }, { slug: 'ada' }, { slug: 'cy' }] },
      }),
    ],
  },
  {
    section,
    feature: '@link(by:, from:), as in Gatsby',
    note: '`by: "author.email", from: "email"` follows a link; a stored field of the linked type works too.',
    outcome: 'supported',
    contract: `${POST} ${person('posts: [Post] @link(by: "author.slug", from: "slug") mails: [Post!]! @link(by: "mail", from: "email")')}`,
    files: BLOG,
    exchanges: [
      ask('{ allPerson { nodes { slug posts { title } } } }', { allPerson: { nodes: BY_AUTHOR } }),
      ask('{ allPerson(filter: {mails: {elemMatch: {title: {eq: "One"}}}}) { nodes { mails { title } } } }', {
        allPerson: { nodes: [{ mails: [{ title: 'One' }] }] },
      }),
    ],
  },
  {
    section,
    feature: '@link(by:) of a list: many to many',
    outcome: 'supported',
    contract: `${POST} ${person('reviews: [Post!]! @link(by: "reviewers")')}
      type Tag implements Node @record @source(glob: "tags.json") {
        name: String! posts: [Post!]! @link(by: "tags", from: "name")
      }`,
    files: BLOG,
    exchanges: [
      ask('{ allPerson { nodes { reviews { title } } } allTag { nodes { name posts { title } } } }', {
        allPerson: {
          nodes: [{ reviews: [{ title: 'Two' }] }, { reviews: [{ title: 'Two' }] }, { reviews: [{ title: 'Three' }] }],
        },
        allTag: {
          nodes: [
            { name: 'sea', posts: [{ title: 'One' }] },
            { name: 'boats', posts: [{ title: 'One' }, { title: 'Two' }] },
            { name: 'land', posts: [] },
          ],
        },
      }),
      ask('{ allTag(filter: {posts: {elemMatch: {title: {eq: "Two"}}}}) { nodes { name } } }', {
        allTag: { nodes: [{ name: 'boats' }] },
      }),
    ],
  },
  {
    section,
    feature: '@link(by:) of one record',
    note: 'The first of several.',
    outcome: 'supported',
    contract: `${POST} ${person('first: Post @link(by: "author") review: Post @link(by: "reviewers")')}`,
    files: BLOG,
    exchanges: [
      ask('{ allPerson { nodes { first { title } review { title } } } }', {
        allPerson: {
          nodes: [
            { first: { title: 'One' }, review: { title: 'Two' } },
            { first: { title: 'Two' }, review: { title: 'Two' } },
            { first: null, review: { title: 'Three' } },
          ],
        },
      }),
      ask('{ allPerson(filter: {first: {title: {eq: "Two"}}}) { nodes { slug } } }', {
        allPerson: { nodes: [{ slug: 'bob' }] },
      }),
      ask(
        '{ allPerson(filter: {review: {title: {eq: "Two"}}}) { totalCount } none: allPerson(filter: {first: {title: {eq: null}}}) { totalCount } }',
        {
          allPerson: { totalCount: 2 },
          none: { totalCount: 1 },
        },
      ),
    ],
  },
  {
    section,
    feature: '@link(by:) on a built-in type',
    outcome: 'supported',
    contract: `type Dish implements Node @record @source(glob: "*.json") { name: String! cover: File @link }
      extend type File { dishes: [Dish!]! @link(by: "cover") }`,
    files: {
      'a.json': '{"name": "Soup", "cover": "x.txt"}',
      'b.json': '{"name": "Cake", "cover": "./x.txt"}',
      'x.txt': '',
    },
    exchanges: [
      ask(
        '{ file(base: {eq: "x.txt"}) { dishes { name } } allFile(filter: {dishes: {elemMatch: {name: {eq: "Cake"}}}}) { nodes { base } } }',
        {
          file: { dishes: [{ name: 'Soup' }, { name: 'Cake' }] },
          allFile: { nodes: [{ base: 'x.txt' }] },
        },
      ),
    ],
  },
  {
    section,
    feature: '@link(from:) of a File: a path inside an object',
    outcome: 'supported',
    contract: `type Dish implements Node @record @source(glob: "*.json") {
      name: String! cover: Cover image: File @link(from: "cover.src") paths: [String!] files: [File!] @link(from: "paths") }
      type Cover { src: String alt: String }
      extend type File { dishes: [Dish!]! @link(by: "image") }`,
    files: {
      'a.json': '{"name": "Soup", "cover": {"src": "./x.txt", "alt": "X"}, "paths": ["x.txt", "./a.json"]}',
      'b.json': '{"name": "Cake", "image": "x.txt"}',
      'x.txt': '',
    },
    exchanges: [
      ask('{ allDish { nodes { cover { src } image { base dishes { name } } files { base } } } }', {
        allDish: {
          nodes: [
            {
              cover: { src: './x.txt' },
              image: { base: 'x.txt', dishes: [{ name: 'Soup' }] },
              files: [{ base: 'x.txt' }, { base: 'a.json' }],
            },
            { cover: null, image: null, files: null },
          ],
        },
      }),
      ask('{ allDish(filter: {image: {base: {eq: "x.txt"}}}) { totalCount } }', { allDish: { totalCount: 1 } }),
    ],
  },
  {
    section,
    feature: '@child: a record inside a file',
    outcome: 'supported',
    contract: `type Dish implements Node @record @source(glob: "*.json") { name: String! }
      extend type File { dish: Dish @child }`,
    files: { 'a.json': '{"name": "Soup"}' },
    exchanges: [ask('{ file(dish: {name: {eq: "Soup"}}) { dish { name } } }', { file: { dish: { name: 'Soup' } } })],
  },
  errorRow(
    '@link(by:) of an unknown field',
    'posts: [Post!]! @link(by: "writer")',
    '38 Expected "by" to name a link of Post to Person, or a stored field; received "writer".',
  ),
  errorRow(
    '@link(by:) of a field that is not a link, without from',
    'posts: [Post!]! @link(by: "mail")',
    '38 Expected "from" too, because Post.mail is not a link to Person. A link to the record whose mail is the value of this field is @link(to: "mail").',
  ),
  errorRow(
    '@link(by:, from:) that is not what the link refers to',
    'posts: [Post!]! @link(by: "author", from: "email")',
    '38 Expected "slug", the field of Person to which Post.author refers; received "email".',
  ),
  errorRow(
    '@link(by:) of a field behind the link that it does not refer to',
    'posts: [Post!]! @link(by: "author.email")',
    '38 Expected "slug", the field of Person to which Post.author refers; received "email".',
  ),
  errorRow(
    '@link(by:, from:) from an unknown field',
    'posts: [Post!]! @link(by: "mail", from: "mailbox")',
    '38 Expected "from" to name a stored field of Person with one value; received "mailbox".',
  ),
  errorRow(
    '@link(by:, from:) of different types',
    'size: Int posts: [Post!]! @link(by: "mail", from: "size")',
    '48 Expected "by" to name a field of the same type as "from" (numbers); received "mail" (text).',
  ),
  errorRow(
    '@link(by:, to:)',
    'posts: [Post!]! @link(by: "author", to: "slug")',
    '58 Expected "by" or "to"; received both.',
  ),
  errorRow(
    '@link(by:) that is not nullable',
    'post: Post! @link(by: "author")',
    '28 Expected Post, as no record may refer to this one; received Post!.',
  ),
  errorRow(
    '@link(by:) to a scalar',
    'post: [String] @link(by: "author")',
    '28 Expected a @record type; received [String].',
  ),
  errorRow('@link without a record type', 'post: String @link', '28 Expected a @record type; received String.'),
  errorRow(
    '@link(to:) of an unknown field',
    'post: Post @link(to: "slog")',
    '33 Expected "to" to name a stored field of Post with one value; received "slog".',
  ),
  errorRow(
    '@link(from:) of an unknown field',
    'post: Post @link(from: "slog")',
    '33 Expected "from" to name a stored field of Person with one value; received "slog".',
  ),
  errorRow(
    '@link(to:) a list',
    'post: Post @link(to: "tags")',
    '33 Expected "to" to name a stored field of Post with one value; received "tags".',
  ),
  errorRow(
    'a @link that is not nullable',
    'post: Post! @link(to: "title")',
    '28 Expected Post, as the linked record may be missing; received Post!.',
  ),
  errorRow(
    'a record type without @link',
    'post: Post',
    '28 Expected @link or @child on a field of the record type Post.',
  ),
  errorRow(
    'an unknown argument of @link',
    'post: Post @link(form: "slug")',
    '39 Unknown argument "form" on directive "@link". Did you mean "from"?',
  ),
  errorRow(
    '@child that is not nullable',
    'post: Post! @child',
    '28 Expected Post, one record or null; received Post!.',
  ),
  errorRow('@child of a scalar', 'post: Int @child', '28 Expected a @record type; received Int.'),
  {
    section,
    feature: '@link inside an object',
    outcome: 'refused',
    contract: `${POST}\n${person('place: Place')}\ntype Place { post: Post @link }`,
    errors: ['5:25 @link is only allowed on fields of @record types; Place is not one.'],
  },
  {
    section,
    feature: '@link of a File on a field inside an object',
    outcome: 'refused',
    contract: `type Dish implements Node @record @source(glob: "*.json") { name: String! cover: Cover }
      type Cover { alt: String src: File @link }`,
    errors: [
      '2:42 @link is only allowed on fields of @record types; Cover is not one. Make Cover.src a String, and add a field to the record type: src: File @link(from: "x.src"), where x is the field with the type Cover.',
    ],
  },
];
