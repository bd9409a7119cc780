-- Derived from the TPC-C specification; results are not comparable to published TPC results.
-- A warehouse has 10 districts, a district 3000 customers; every warehouse stocks 100 000 products.
-- There are no foreign keys: the checks of the workload say whether the tables agree.
--
-- All clients change the few rows of warehouse and district. The filler gives each row a page of its
-- own, with room for its versions: so these tables do not grow in a trial, which would change plans.
CREATE TABLE warehouse (
    id            int           NOT NULL,
    name          text          NOT NULL,
    street        text          NOT NULL,
    city          text          NOT NULL,
    zip           text          NOT NULL,
    tax           numeric(4,4)  NOT NULL,
    received      numeric(14,2) NOT NULL,
    filler        char(450)     NOT NULL DEFAULT ''
) WITH (fillfactor = 10);

CREATE TABLE district (
    warehouse_id  int           NOT NULL,
    id            int           NOT NULL,
    name          text          NOT NULL,
    street        text          NOT NULL,
    city          text          NOT NULL,
    zip           text          NOT NULL,
    tax           numeric(4,4)  NOT NULL,
    received      numeric(14,2) NOT NULL,
    next_purchase int           NOT NULL,
    filler        char(450)     NOT NULL DEFAULT ''
) WITH (fillfactor = 10);

CREATE TABLE customer (
    warehouse_id  int           NOT NULL,
    district_id   int           NOT NULL,
    id            int           NOT NULL,
    first_name    text          NOT NULL,
    last_name     text          NOT NULL,
    street        text          NOT NULL,
    city          text          NOT NULL,
    zip           text          NOT NULL,
    phone         text          NOT NULL,
    since         timestamptz   NOT NULL,
    credit        text          NOT NULL,
    credit_limit  numeric(12,2) NOT NULL,
    discount      numeric(4,4)  NOT NULL,
    balance       numeric(12,2) NOT NULL,
    paid          numeric(12,2) NOT NULL,
    payments      int           NOT NULL,
    deliveries    int           NOT NULL,
    notes         text          NOT NULL
) WITH (fillfactor = 90);

-- Payments of customers, who may belong to another warehouse than the one they pay at.
CREATE TABLE payment (
    customer_warehouse_id int          NOT NULL,
    customer_district_id  int          NOT NULL,
    customer_id           int          NOT NULL,
    warehouse_id          int          NOT NULL,
    district_id           int          NOT NULL,
    paid_at               timestamptz  NOT NULL,
    amount                numeric(6,2) NOT NULL,
    remark                text         NOT NULL
);

CREATE TABLE purchase (
    warehouse_id  int           NOT NULL,
    district_id   int           NOT NULL,
    id            int           NOT NULL,
    customer_id   int           NOT NULL,
    placed_at     timestamptz   NOT NULL,
    carrier       smallint,     -- NULL until it is delivered
    line_count    smallint      NOT NULL,
    all_local     boolean       NOT NULL
) WITH (fillfactor = 90);

-- The purchases that are not delivered yet.
CREATE TABLE open_purchase (
    warehouse_id  int           NOT NULL,
    district_id   int           NOT NULL,
    purchase_id   int           NOT NULL
);

CREATE TABLE purchase_line (
    warehouse_id  int           NOT NULL,
    district_id   int           NOT NULL,
    purchase_id   int           NOT NULL,
    number        smallint      NOT NULL,
    product_id    int           NOT NULL,
    supplier_id   int           NOT NULL,    -- the warehouse that it comes from
    quantity      smallint      NOT NULL,
    delivered_at  timestamptz,
    amount        numeric(6,2)  NOT NULL,
    label         text          NOT NULL
) WITH (fillfactor = 90);

CREATE TABLE product (
    id            int           NOT NULL,
    picture       int           NOT NULL,
    name          text          NOT NULL,
    price         numeric(5,2)  NOT NULL,
    note          text          NOT NULL
);

CREATE TABLE stock (
    warehouse_id  int           NOT NULL,
    product_id    int           NOT NULL,
    quantity      int           NOT NULL,
    sold          int           NOT NULL,
    purchases     int           NOT NULL,
    remote_purchases int        NOT NULL,
    labels        text[]        NOT NULL,    -- one for each district
    note          text          NOT NULL
) WITH (fillfactor = 90);
