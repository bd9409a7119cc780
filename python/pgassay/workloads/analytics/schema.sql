-- Derived from the TPC-H specification; results are not comparable to published TPC results.
-- For each unit of scale 1000 suppliers, 20 000 products, 80 000 offers of suppliers for products,
-- 15 000 customers, 150 000 purchases with 1 to 7 lines each, between 2018 and 2024.
CREATE TABLE region (
    id          int           NOT NULL,
    name        text          NOT NULL
);

CREATE TABLE country (
    id          int           NOT NULL,
    name        text          NOT NULL,
    region_id   int           NOT NULL
);

CREATE TABLE supplier (
    id          int           NOT NULL,
    name        text          NOT NULL,
    address     text          NOT NULL,
    country_id  int           NOT NULL,
    phone       text          NOT NULL,    -- begins with the country's id + 10
    balance     numeric(12,2) NOT NULL,
    note        text          NOT NULL
);

CREATE TABLE product (
    id          int           NOT NULL,
    name        text          NOT NULL,    -- five materials or colours
    maker       text          NOT NULL,
    brand       text          NOT NULL,
    kind        text          NOT NULL,    -- grade, finish, material
    size        int           NOT NULL,
    container   text          NOT NULL,    -- size, form
    price       numeric(12,2) NOT NULL,
    note        text          NOT NULL
);

CREATE TABLE offer (
    product_id  int           NOT NULL,
    supplier_id int           NOT NULL,
    available   int           NOT NULL,
    cost        numeric(12,2) NOT NULL,
    note        text          NOT NULL
);

CREATE TABLE customer (
    id          int           NOT NULL,
    name        text          NOT NULL,
    address     text          NOT NULL,
    country_id  int           NOT NULL,
    phone       text          NOT NULL,
    balance     numeric(12,2) NOT NULL,
    segment     text          NOT NULL,
    note        text          NOT NULL
);

CREATE TABLE purchase (
    id          int           NOT NULL,
    customer_id int           NOT NULL,
    status      text          NOT NULL,    -- D: all lines shipped, O: none, P: some
    total       numeric(12,2) NOT NULL,
    placed_on   date          NOT NULL,
    priority    text          NOT NULL,
    clerk       text          NOT NULL,
    shipping_priority int     NOT NULL,
    note        text          NOT NULL
);

CREATE TABLE purchase_line (
    purchase_id int           NOT NULL,
    number      int           NOT NULL,
    product_id  int           NOT NULL,
    supplier_id int           NOT NULL,
    quantity    numeric(12,2) NOT NULL,
    price       numeric(12,2) NOT NULL,    -- of the whole quantity
    discount    numeric(12,2) NOT NULL,
    tax         numeric(12,2) NOT NULL,
    returned    text          NOT NULL,    -- R: returned, K: kept, N: not received yet
    status      text          NOT NULL,    -- D: shipped, O: not yet
    shipped_on  date          NOT NULL,
    promised_on date          NOT NULL,
    received_on date          NOT NULL,
    instruction text          NOT NULL,
    mode        text          NOT NULL,
    note        text          NOT NULL
);
